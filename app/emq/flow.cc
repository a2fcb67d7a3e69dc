// SPDX-License-Identifier: MIT
// emq flow: trees of jobs, in which a parent runs once its children are done.
#include "echomq/flow.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "argument.h"
#include "echomq/keyspace.h"
#include "flow_tree.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

struct FlowOptions {
  std::string file;
  std::string queue;
  std::string id;
  std::string depth = "10";
  std::string children = "1000";
  bool dot = false;
};

Result<std::string> read_all(const std::string& file) {
  if (file == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  std::ifstream in(file, std::ios::binary);
  if (!in)
    return Error{ErrorCode::invalid_argument,
                 "the file " + file + " cannot be read",
                 {{"option", "FILE"}, {"value", file}, {"expected", "a file, or - for stdin"}}};
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

Exit add(const FlowOptions& typed, const Session& session) {
  const auto text = read_all(typed.file);
  if (!text) return session.fail(text.error());
  const auto root = read_flow(*text);
  if (!root) return session.fail(root.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  const auto added = echomq::Flows(*client).add(*root);
  if (!added) return session.fail(added.error());
  if (session.json)
    print_json(to_json(*added));
  else
    print("{}\n", added->id);
  return Exit::ok;
}

// What all verbs of one job begin with.
Result<std::string> job_of(const FlowOptions& typed) {
  if (const auto queue = echomq::queue_name(typed.queue); !queue) return queue.error();
  return plain_id(typed.id);
}

Exit show(const FlowOptions& typed, const Session& session) {
  const auto id = job_of(typed);
  if (!id) return session.fail(id.error());
  const auto depth = whole_number("--depth", typed.depth, 1, echomq::kMaxFlowDepth);
  if (!depth) return session.fail(depth.error());
  const auto children = whole_number("--children", typed.children, 1, echomq::kMaxFlowJobs);
  if (!children) return session.fail(children.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  const auto tree =
      echomq::Flows(*client).tree(typed.queue, *id,
                                  {.depth = static_cast<unsigned>(*depth),
                                   .max_children = static_cast<std::size_t>(*children)});
  if (!tree) return session.fail(tree.error());
  if (session.json)
    print_json(to_json(*tree));
  else
    put(stdout, typed.dot ? to_dot(*tree) : draw(*tree));
  return Exit::ok;
}

Exit stuck(const FlowOptions& typed, const Session& session) {
  if (const auto queue = echomq::queue_name(typed.queue); !queue)
    return session.fail(queue.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Flows flows(*client);
  echomq::PageOptions how{.limit = 256};
  Json all = Json::array();
  do {
    const auto page = flows.stuck(typed.queue, how);
    if (!page) return session.fail(page.error());
    for (const auto& parent : page->parents) {
      all.push_back({{"id", parent.id},
                     {"since_ms", parent.since_ms},
                     {"why", parent.why},
                     {"child_queue", parent.child_queue},
                     {"child", parent.child}});
      if (!session.json)
        print("{}  since {}  {}\n", parent.id, utc(parent.since_ms), printable(parent.why));
    }
    how.cursor = page->next;
  } while (!how.cursor.empty());
  if (session.json) print_json({{"stuck", std::move(all)}});
  return Exit::ok;
}

Exit remove(const FlowOptions& typed, const Session& session) {
  const auto id = job_of(typed);
  if (!id) return session.fail(id.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  const auto removal = echomq::Flows(*client).remove(typed.queue, *id);
  if (!removal) return session.fail(removal.error());
  Json left = Json::array();
  for (const auto& job : removal->left) {
    left.push_back({{"queue", job.queue}, {"id", job.id}, {"why", job.why.detail}});
    if (!session.json) session.fail(job.why);
  }
  if (session.json)
    print_json({{"removed", removal->removed}, {"left", std::move(left)}});
  else
    print("{} jobs removed\n", grouped(removal->removed));
  return removal->left.empty() ? Exit::ok : Exit::failed;
}

using Verb = Exit (*)(const FlowOptions&, const Session&);

void run_by(CLI::App& verb, Session& session, std::shared_ptr<FlowOptions> typed, Verb act) {
  verb.callback([typed = std::move(typed), &session, act] {
    session.run = [typed, &session, act] { return act(*typed, session); };
  });
}

void declare_flow_add(CLI::App& flow, Session& session) {
  auto* verb = session.declare(
      flow, "add", "Add a tree of jobs; prints the id of its root",
      "  emq flow add tree.json\n"
      "  echo '{\"queue\":\"report\",\"children\":[{\"queue\":\"render\",\"data\":1},"
      "{\"queue\":\"render\",\"data\":2}]}' | emq flow add -\n"
      "A job is {\"queue\",\"name\",\"data\",\"options\",\"on_failure\",\"children\"}, of which "
      "only the queue "
      "must be there. data is any JSON, and what the handler gets; text in its place is a string "
      "whose "
      "bytes it gets. options are those of `emq add`: attempts, backoff, delay, expires, id, "
      "keep_completed, keep_failed, lifo, priority, traceparent. on_failure of a child says what "
      "becomes "
      "of its parent: fail-parent (the default), continue-parent, ignore or remove-dependency. A "
      "wrong "
      "job adds nothing, and is named by its path: children[3].children[0].\n");
  auto typed = std::make_shared<FlowOptions>();
  verb->add_option("FILE", typed->file, "The tree as JSON; - reads stdin")->required();
  session.declare_server(*verb);
  session.declare_json(*verb, "Print the tree with its ids: {\"queue\",\"id\",\"children\":[..]}");
  run_by(*verb, session, std::move(typed), add);
}

CLI::App* declare_of_job(CLI::App& flow, Session& session, FlowOptions& typed,
                         const std::string& word, const std::string& what,
                         const std::string& examples) {
  auto* verb = session.declare(flow, word, what, examples);
  verb->add_option("QUEUE", typed.queue, "The job's queue")->required();
  verb->add_option("ID", typed.id, "Its id: decimal, branded (BAT and 11 characters), or custom")
      ->required();
  session.declare_server(*verb);
  return verb;
}

void declare_flow_show(CLI::App& flow, Session& session) {
  auto typed = std::make_shared<FlowOptions>();
  auto* verb =
      declare_of_job(flow, session, *typed, "show", "Draw a job and its children, with states",
                     "  emq flow show report 274557032793636864\n"
                     "  emq flow show report june --dot | dot -Tsvg > june.svg\n");
  verb->add_flag("--dot", typed->dot, "As a graph for Graphviz");
  verb->add_option("--depth", typed->depth, "So many levels, 1 to 100")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--children", typed->children, "So many children of each job")
      ->type_name("N")
      ->capture_default_str();
  session.declare_json(*verb, "Print it as one object, the children within");
  run_by(*verb, session, std::move(typed), show);
}

void declare_flow_stuck(CLI::App& flow, Session& session) {
  auto* verb =
      session.declare(flow, "stuck", "List parents that wait and can no longer run, and why",
                      "  emq flow stuck report\n"
                      "A parent is stuck when a child that it waits for is gone without a word: "
                      "deleted by hand, or lost "
                      "with the server's last data. Remove it, and add it anew.\n");
  auto typed = std::make_shared<FlowOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue of the parents")->required();
  session.declare_server(*verb);
  session.declare_json(
      *verb, "Print {\"stuck\":[{\"id\",\"since_ms\",\"why\",\"child_queue\",\"child\"}]}");
  run_by(*verb, session, std::move(typed), stuck);
}

void declare_flow_remove(CLI::App& flow, Session& session) {
  auto typed = std::make_shared<FlowOptions>();
  auto* verb =
      declare_of_job(flow, session, *typed, "remove", "Remove a job and all below it",
                     "  emq flow remove report june\n"
                     "The deepest jobs go first. What runs stays, is told of, and makes the exit "
                     "status 1. Interrupted, it may be said again.\n");
  session.declare_json(*verb, "Print {\"removed\",\"left\":[{\"queue\",\"id\",\"why\"}]}");
  run_by(*verb, session, std::move(typed), remove);
}

}  // namespace

void declare_flow(CLI::App& app, Session& session) {
  auto* flow = session.declare(app, "flow", "Trees of jobs: add, show, stuck, remove",
                               "  emq flow add tree.json\n"
                               "  emq flow show report june\n");
  flow->require_subcommand(1);
  declare_flow_add(*flow, session);
  declare_flow_show(*flow, session);
  declare_flow_stuck(*flow, session);
  declare_flow_remove(*flow, session);
}

}  // namespace emq

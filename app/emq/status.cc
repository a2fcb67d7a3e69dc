// SPDX-License-Identifier: MIT
// emq status: how many jobs are in each state. Looking makes no queue: a name that was never opened
// is not_found.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

void add_row(Table& table, const std::string& queue, const echomq::Counts& counts) {
  const auto* const note = counts.paused ? " (paused)" : counts.limited ? " (limited)" : "";
  table.add({queue + note, grouped(counts.waiting), grouped(counts.prioritized),
             grouped(counts.active), grouped(counts.delayed), grouped(counts.waiting_children),
             grouped(counts.completed), grouped(counts.failed)});
}

Json to_json(const std::string& queue, const echomq::Counts& counts) {
  return {{"queue", queue},
          {"paused", counts.paused},
          {"limited", counts.limited},
          {"waiting", counts.waiting},
          {"prioritized", counts.prioritized},
          {"active", counts.active},
          {"delayed", counts.delayed},
          {"waiting_children", counts.waiting_children},
          {"completed", counts.completed},
          {"failed", counts.failed}};
}

using Counted = std::vector<std::pair<std::string, echomq::Counts>>;

void print_table(const Counted& queues) {
  Table table({{"queue"},
               {"waiting", true},
               {"prioritized", true},
               {"active", true},
               {"delayed", true},
               {"waiting-children", true},
               {"completed", true},
               {"failed", true}});
  for (const auto& [queue, counts] : queues) add_row(table, queue, counts);
  table.print();
}

// The text format of Prometheus, version 0.0.4. Names of queues need no escapes.
void print_prometheus(const Counted& queues) {
  print("# HELP echomq_jobs Jobs of a queue in a state.\n# TYPE echomq_jobs gauge\n");
  for (const auto& [queue, counts] : queues)
    for (const auto& [state, jobs] :
         {std::pair("waiting", counts.waiting), std::pair("prioritized", counts.prioritized),
          std::pair("active", counts.active), std::pair("delayed", counts.delayed),
          std::pair("waiting-children", counts.waiting_children),
          std::pair("completed", counts.completed), std::pair("failed", counts.failed)})
      print("echomq_jobs{{queue=\"{}\",state=\"{}\"}} {}\n", queue, state, jobs);
  print(
      "# HELP echomq_queue_paused 1 while a queue is paused.\n# TYPE echomq_queue_paused gauge\n");
  for (const auto& [queue, counts] : queues)
    print("echomq_queue_paused{{queue=\"{}\"}} {}\n", queue, counts.paused ? 1 : 0);
}

struct StatusOptions {
  std::optional<std::string> queue;
  bool prometheus = false;
};

Exit status(const StatusOptions& typed, const Session& session) {
  const auto& only = typed.queue;
  if (typed.prometheus && session.json)
    return session.fail(bad_value("--prometheus", "with --json", "one of the two"));
  if (only)
    if (const auto name = echomq::queue_name(*only); !name) return session.fail(name.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  std::vector<std::string> names;
  if (only) {
    names.push_back(*only);
  } else {
    auto all = client->queues();
    if (!all) return session.fail(all.error());
    names = *std::move(all);
  }
  Counted queues;
  std::vector<echomq::Error> problems;
  for (const auto& name : names) {
    echomq::Queue<> queue{*client, name};
    const auto counts = queue.counts();
    if (!counts) {
      // In the list of all queues, one that is gone by now is no error; one that is fenced is.
      if (only || counts.error().code != echomq::ErrorCode::not_found)
        problems.push_back(counts.error());
      continue;
    }
    queues.emplace_back(queue.name(), *counts);
  }
  if (session.json) {
    Json all = Json::array();
    for (const auto& [name, counts] : queues) all.push_back(to_json(name, counts));
    if (!only || problems.empty()) print_json({{"queues", all}});
  } else if (typed.prometheus) {
    print_prometheus(queues);
  } else if (!queues.empty()) {
    print_table(queues);
  } else if (problems.empty()) {
    std::fputs("no queues yet; `emq add QUEUE NAME DATA` makes one\n", stdout);
  }
  for (const auto& problem : problems) (void)session.fail(problem);
  return problems.empty() ? Exit::ok : exit_code(problems.front().code);
}

}  // namespace

void declare_status(CLI::App& app, Session& session) {
  auto* verb = session.declare(app, "status", "Count the jobs of one queue, or of all",
                               "  emq status\n"
                               "  emq status mail --json | jq '.queues[0].waiting'\n"
                               "  emq status --prometheus > /var/lib/node_exporter/echomq.prom\n"
                               "What a queue is limited to: `emq limit QUEUE`.\n");
  auto typed = std::make_shared<StatusOptions>();
  verb->add_option("QUEUE", typed->queue, "One queue. Default: all that were ever opened here");
  verb->add_flag("--prometheus", typed->prometheus,
                 "Print gauges in the text format of Prometheus: echomq_jobs{queue,state}");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"queues\":[{\"queue\",\"paused\",\"limited\",\"waiting\",..}]}");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return status(*typed, session); }; });
}

}  // namespace emq

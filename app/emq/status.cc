// SPDX-License-Identifier: MIT
// emq status: how many jobs are in each state. Looking makes no queue: a name that was never opened
// is not_found.
#include <memory>
#include <optional>

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

Exit status(const std::optional<std::string>& only, const Session& session) {
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
  Table table({{"queue"},
               {"waiting", true},
               {"prioritized", true},
               {"active", true},
               {"delayed", true},
               {"waiting-children", true},
               {"completed", true},
               {"failed", true}});
  Json queues = Json::array();
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
    add_row(table, queue.name(), *counts);
    queues.push_back(to_json(queue.name(), *counts));
  }
  if (session.json) {
    if (!only || problems.empty()) print_json({{"queues", queues}});
  } else if (!queues.empty()) {
    table.print();
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
                               "What a queue is limited to: `emq limit QUEUE`.\n");
  auto queue = std::make_shared<std::optional<std::string>>();
  verb->add_option("QUEUE", *queue, "One queue. Default: all that were ever opened here");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"queues\":[{\"queue\",\"paused\",\"limited\",\"waiting\",..}]}");
  verb->callback(
      [queue, &session] { session.run = [queue, &session] { return status(*queue, session); }; });
}

}  // namespace emq

// SPDX-License-Identifier: MIT
// emq status: how many jobs are in each state. Looking makes no queue: a name that was never opened
// is not_found.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argument.h"
#include "echomq/fence.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "echomq/schedule.h"
#include "session.h"

namespace emq {
namespace {

struct QueueCounts {
  std::string queue;
  echomq::Counts counts;
  std::int64_t schedulers = 0;
};
using Counted = std::vector<QueueCounts>;

struct State {
  const char* name;
  std::int64_t echomq::Counts::*jobs;
};

// In the order in which they are shown.
constexpr std::array kStates{State{"waiting", &echomq::Counts::waiting},
                             State{"prioritized", &echomq::Counts::prioritized},
                             State{"active", &echomq::Counts::active},
                             State{"delayed", &echomq::Counts::delayed},
                             State{"waiting-children", &echomq::Counts::waiting_children},
                             State{"completed", &echomq::Counts::completed},
                             State{"failed", &echomq::Counts::failed}};

void print_table(const Counted& queues) {
  std::vector<Table::Column> columns{{"queue"}};
  for (const auto& state : kStates) columns.push_back({state.name, true});
  // Most queues have none.
  const bool any = std::any_of(queues.begin(), queues.end(),
                               [](const auto& entry) { return entry.schedulers > 0; });
  if (any) columns.push_back({"schedulers", true});
  Table table(columns);
  for (const auto& [queue, counts, schedulers] : queues) {
    const auto* const note = counts.paused ? " (paused)" : counts.limited ? " (limited)" : "";
    std::vector<std::string> row{queue + note};
    for (const auto& state : kStates) row.push_back(grouped(counts.*state.jobs));
    if (any) row.push_back(grouped(schedulers));
    table.add(row);
  }
  table.print();
}

Json to_json(const QueueCounts& entry) {
  const auto& [queue, counts, schedulers] = entry;
  Json out{{"queue", queue}, {"paused", counts.paused}, {"limited", counts.limited}};
  for (const auto& state : kStates) {
    std::string key = state.name;
    std::replace(key.begin(), key.end(), '-', '_');
    out[key] = counts.*state.jobs;
  }
  out["schedulers"] = schedulers;
  return out;
}

// The text format of Prometheus, version 0.0.4. Names of queues need no escapes.
void print_prometheus(const Counted& queues, const std::vector<echomq::Error>& problems) {
  print("# HELP echomq_jobs Jobs of a queue in a state.\n# TYPE echomq_jobs gauge\n");
  for (const auto& [queue, counts, schedulers] : queues)
    for (const auto& state : kStates)
      print("echomq_jobs{{queue=\"{}\",state=\"{}\"}} {}\n", queue, state.name, counts.*state.jobs);
  print(
      "# HELP echomq_queue_paused 1 while a queue is paused.\n# TYPE echomq_queue_paused gauge\n");
  for (const auto& [queue, counts, schedulers] : queues)
    print("echomq_queue_paused{{queue=\"{}\"}} {}\n", queue, counts.paused ? 1 : 0);
  print(
      "# HELP echomq_queue_fenced 1 while a queue is refused because of another wire; see emq "
      "fence.\n# TYPE echomq_queue_fenced gauge\n");
  for (const auto& [queue, counts, schedulers] : queues)
    print("echomq_queue_fenced{{queue=\"{}\"}} 0\n", queue);
  for (const auto& problem : problems)
    if (const auto fence = echomq::fence_error(problem))
      print("echomq_queue_fenced{{queue=\"{}\"}} 1\n", fence->queue);
}

Exit priorities(const std::string& name, const Session& session) {
  if (const auto bare = echomq::queue_name(name); !bare) return session.fail(bare.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, name};
  const auto counts = queue.counts_by_priority();
  if (!counts) return session.fail(counts.error());
  if (session.json) {
    Json all = Json::object();
    for (const auto& [priority, jobs] : *counts) all[std::to_string(priority)] = jobs;
    print_json({{"queue", queue.name()}, {"priorities", all}});
    return Exit::ok;
  }
  Table table({{"priority", true}, {"ready jobs", true}});
  for (const auto& [priority, jobs] : *counts) table.add({std::to_string(priority), grouped(jobs)});
  table.print();
  return Exit::ok;
}

struct StatusOptions {
  std::optional<std::string> queue;
  bool priorities = false;
  bool prometheus = false;
};

Exit status(const StatusOptions& typed, const Session& session) {
  const auto& only = typed.queue;
  if (typed.prometheus && session.json)
    return session.fail(bad_value("--prometheus", "with --json", "one of the two"));
  if (typed.priorities && (!only || typed.prometheus))
    return session.fail(bad_value("--priorities", only ? "with --prometheus" : "without QUEUE",
                                  "one queue, and no other form"));
  if (typed.priorities) return priorities(*only, session);
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
    const auto schedulers = echomq::Schedulers<>(queue).count();
    if (!schedulers)
      problems.push_back(schedulers.error());
    else
      queues.push_back({queue.name(), *counts, *schedulers});
  }
  if (session.json) {
    Json all = Json::array();
    for (const auto& entry : queues) all.push_back(to_json(entry));
    if (!only || problems.empty()) print_json({{"queues", all}});
  } else if (typed.prometheus) {
    print_prometheus(queues, problems);
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
  auto* verb =
      session.declare(app, "status", "Count the jobs of one queue, or of all",
                      "  emq status\n"
                      "  emq status mail --json | jq '.queues[0].waiting'\n"
                      "  emq status mail --priorities\n"
                      "  emq status --prometheus > /var/lib/node_exporter/echomq.prom\n"
                      "What a queue is limited to: `emq limit QUEUE`; its schedulers: `emq "
                      "schedule list QUEUE`.\n");
  auto typed = std::make_shared<StatusOptions>();
  verb->add_option("QUEUE", typed->queue, "One queue. Default: all that were ever opened here");
  verb->add_flag("--prometheus", typed->prometheus,
                 "Print gauges in the text format of Prometheus: echomq_jobs{queue,state}, "
                 "echomq_queue_paused and _fenced");
  verb->add_flag("--priorities", typed->priorities,
                 "Of one queue: how many ready jobs each priority has; waiting ones under 0");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"queues\":[{\"queue\",\"paused\",\"limited\",\"waiting\",..}]}; "
                       "with --priorities {\"queue\",\"priorities\":{\"0\":N,..}}");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return status(*typed, session); }; });
}

}  // namespace emq

// SPDX-License-Identifier: MIT
#include "bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "bench/process.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;
using Count = std::uint64_t;

constexpr const char* kQueue = "bench";
constexpr const char* kWarmQueue = "warm";
constexpr Count kAtOnce = 1'000;
constexpr Count kInFlight = 500;
constexpr Count kThreads = 64;
constexpr double kMiB = 1'048'576;
constexpr const char* kLarge = "large_migration";
constexpr Count kLargeMigration = 5'000'000;

enum class Who { ours, floor, peer };
using Everyone = std::vector<Who>;

const char* name(Who who) {
  return who == Who::ours ? "ours" : who == Who::floor ? "floor" : "peer";
}

// How much is measured. The peer gets fewer jobs, so that it takes about as long.
struct Amounts {
  Count bulk;
  Count add;
  Count process_1, process_10, process_100;
  Count waiting;  // "a million"
  Count migrated;
  Count latencies;
  double load_seconds;
  double idle_seconds;
};

Amounts amounts(Who who, bool quick) {
  if (quick)
    return who == Who::peer ? Amounts{1'000, 500, 100, 300, 500, 1'000, 0, 20, 0.2, 1.0}
                            : Amounts{5'000, 2'000, 300, 1'000, 2'000, 10'000, 2'000, 40, 0.2, 1.0};
  return who == Who::peer
             ? Amounts{20'000, 20'000, 4'000, 15'000, 20'000, 100'000, 0, 300, 2.0, 10.0}
             : Amounts{200'000,   100'000, 10'000, 60'000, 120'000,
                       1'000'000, 400'000, 300,    2.0,    10.0};
}

class Bench {
 public:
  Bench(Server& server, const Settings& settings, Results& results)
      : server_(server), settings_(settings), results_(results) {}

  Result<void> run() {
    for (const auto persistence : settings_.persistences) {
      persistence_ = bench::name(persistence);
      if (persistence != Persistence::as_found)
        if (auto kept = server_.keep(persistence); !kept) return kept.error();
      for (repeat_ = 0; repeat_ < settings_.repeats; ++repeat_)
        if (auto done = all_rows(); !done) return done.error();
    }
    return {};
  }

  // By their names, in the order in which they are measured.
  struct Row {
    std::string_view name;
    std::function<Result<void>(Bench&, Who)> measure;
  };
  static const std::vector<Row>& rows() {
    static const std::vector<Row> all{
        {"bulk_add", [](Bench& b, Who who) { return b.bulk_add(who); }},
        {"concurrent_add",
         [](Bench& b, Who who) { return b.add(who, "concurrent_add", "in_flight"); }},
        {"blocking_add", [](Bench& b, Who who) { return b.add(who, "blocking_add", "threads"); }},
        {"process_c1", [](Bench& b, Who who) { return b.process(who, 1, "default"); }},
        {"process_c10", [](Bench& b, Who who) { return b.process(who, 10, "default"); }},
        {"process_c100", [](Bench& b, Who who) { return b.process(who, 100, "default"); }},
        {"process_kept_c1", [](Bench& b, Who who) { return b.process(who, 1, "all"); }},
        {"process_kept_c10", [](Bench& b, Who who) { return b.process(who, 10, "all"); }},
        {"process_kept_c100", [](Bench& b, Who who) { return b.process(who, 100, "all"); }},
        {"latency_idle", [](Bench& b, Who who) { return b.latency_idle(who); }},
        {"latency_half", [](Bench& b, Who who) { return b.latency_half(who); }},
        {"latency_same", [](Bench& b, Who who) { return b.latency_same(who); }},
        {"idle_commands", [](Bench& b, Who who) { return b.idle(who); }},
        {"million", [](Bench& b, Who who) { return b.million(who); }},
        {"migration",
         [](Bench& b, Who who) { return b.migration(b.amount(who).migrated, "migration"); }},
        {kLarge, [](Bench& b, Who) { return b.migration(kLargeMigration, kLarge); }},
    };
    return all;
  }

 private:
  Result<void> all_rows() {
    const Everyone all{Who::ours, Who::floor, Who::peer};
    const Everyone queues{Who::ours, Who::peer};
    const Everyone alone{Who::ours};
    for (const auto& [row, measure] : rows()) {
      if (!wanted(row)) continue;
      auto everyone = row == "bulk_add" || row == "million" ? all
                      : row == "migration" || row == kLarge ? alone
                                                            : queues;
      if (repeat_ % 2 == 1) std::reverse(everyone.begin(), everyone.end());
      for (const auto who : everyone) {
        if (who == Who::peer && settings_.peer_script.empty()) continue;
        if (settings_.stopped()) return Error{ErrorCode::closed, "interrupted", {}};
        settings_.progress(
            "persistence " + persistence_ + ", round " + std::to_string(repeat_ + 1) + " of " +
            std::to_string(settings_.repeats) + ": " + std::string(row) + ", " + name(who));
        if (auto erased = server_.erase(); !erased) return erased;
        if (auto done = measure(*this, who); !done) return done;
      }
    }
    return {};
  }

  [[nodiscard]] bool wanted(std::string_view row) const {
    // That one takes minutes, and some 6 GB of the server.
    if (settings_.only.empty()) return row != kLarge;
    return std::any_of(settings_.only.begin(), settings_.only.end(),
                       [row](const std::string& only) { return row.starts_with(only); });
  }

  // --- what all rows need

  [[nodiscard]] Amounts amount(Who who) const { return amounts(who, settings_.quick); }

  [[nodiscard]] Result<Process> start(Who who) const {
    if (who == Who::peer)
      return Process::start({"node", settings_.peer_script, server_.url()}, settings_.stopped);
    return Process::start(
        {settings_.program, "bench", "--subject", name(who), "--url", server_.url()},
        settings_.stopped);
  }

  static Result<Json> ask(Process& process, Json command, std::chrono::seconds limit = 120s) {
    command["limit_s"] = limit.count();
    return process.ask(command, limit + 5s);
  }

  // Asks, and answers the jobs a second and what they cost.
  Result<Sample> measured(Process& process, Json command) {
    const auto jobs = command.at("jobs").get<double>();
    const auto before = server_.cpu_seconds();
    if (!before) return before.error();
    const auto answer = ask(process, std::move(command));
    if (!answer) return answer.error();
    const auto after = server_.cpu_seconds();
    if (!after) return after.error();
    return Sample{jobs / answer->at("seconds").get<double>(), (*after - *before) * 1e6 / jobs,
                  answer->at("cpu_us").get<double>() / jobs};
  }

  // The same command with a tenth of its jobs on another queue comes first: connections, caches and
  // compilers are warm then.
  Result<void> warm_and_measure(Process& process, Json command, Who who, std::string_view row) {
    auto warm = command;
    warm["queue"] = kWarmQueue;
    warm["jobs"] = std::max<Count>(command.at("jobs").get<Count>() / 10, kInFlight);
    if (auto done = ask(process, warm); !done) return done.error();
    auto sample = measured(process, std::move(command));
    if (!sample) return sample.error();
    results_.add(row, persistence_, name(who), *sample);
    return {};
  }

  static Json bulk(const char* queue, Count jobs) {
    return {{"do", "bulk_add"}, {"queue", queue}, {"jobs", jobs}, {"at_once", kAtOnce}};
  }

  // --- rows

  Result<void> bulk_add(Who who) {
    auto process = start(who);
    if (!process) return process.error();
    return warm_and_measure(*process, bulk(kQueue, amount(who).bulk), who, "bulk_add");
  }

  Result<void> add(Who who, const char* row, const char* way) {
    auto process = start(who);
    if (!process) return process.error();
    const Json command{{"do", "add"},
                       {"queue", kQueue},
                       {"jobs", amount(who).add},
                       {way, way == std::string_view("threads") ? kThreads : kInFlight}};
    return warm_and_measure(*process, command, who, row);
  }

  Result<void> process(Who who, unsigned concurrency, const char* keep) {
    const auto each = amount(who);
    const auto jobs = concurrency == 1    ? each.process_1
                      : concurrency == 10 ? each.process_10
                                          : each.process_100;
    auto process = start(who);
    if (!process) return process.error();
    const Json command{{"do", "process"},
                       {"queue", kQueue},
                       {"jobs", jobs},
                       {"concurrency", concurrency},
                       {"keep", keep}};
    const auto warm = std::max<Count>(jobs / 10, kInFlight);
    for (const auto& [queue, count] : {std::pair{kWarmQueue, warm}, std::pair{kQueue, jobs}})
      if (auto filled = ask(*process, bulk(queue, count)); !filled) return filled.error();
    const auto row = std::string(keep == std::string_view("all") ? "process_kept_c" : "process_c") +
                     std::to_string(concurrency);
    return warm_and_measure(*process, command, who, row);
  }

  // Adds in one process, works in another; answers the latencies in milliseconds.
  Result<std::vector<double>> latencies(Who who, unsigned concurrency, Count jobs, double rate) {
    auto worker = start(who);
    if (!worker) return worker.error();
    const Json work{{"do", "work"}, {"queue", kQueue}, {"concurrency", concurrency}};
    if (auto working = ask(*worker, work); !working) return working.error();
    auto producer = start(who);
    if (!producer) return producer.error();
    std::vector<double> found;
    const auto warm = std::max<Count>(jobs / 5, 20);
    for (const auto count : {warm, jobs}) {
      const Json add{{"do", "paced_add"}, {"queue", kQueue}, {"jobs", count}, {"rate", rate}};
      if (auto added = ask(*producer, add); !added) return added.error();
      const auto started = ask(*worker, {{"do", "collect"}, {"jobs", count}});
      if (!started) return started.error();
      found = started->at("latencies_us").get<std::vector<double>>();
    }
    for (auto& us : found) us /= 1'000;
    return found;
  }

  Result<void> record_latencies(Who who, const std::string& row, unsigned concurrency, Count jobs,
                                double rate) {
    auto found = latencies(who, concurrency, jobs, rate);
    if (!found) return found.error();
    results_.add(row + "_p50", persistence_, name(who), {percentile(*found, 0.50)});
    results_.add(row + "_p99", persistence_, name(who), {percentile(*found, 0.99)});
    return {};
  }

  Result<void> latency_idle(Who who) {
    constexpr double kRate = 100;
    return record_latencies(who, "latency_idle", 1, amount(who).latencies, kRate);
  }

  // Half of what that subject worked a second in this round.
  Result<void> latency_at_half_of(Who load, Who who, const char* row) {
    const auto* series = results_.find("process_c100", persistence_, name(load));
    if (series == nullptr) return {};
    const double rate = series->samples.back().value / 2;
    const auto jobs =
        std::max<Count>(static_cast<Count>(rate * amount(who).load_seconds), amount(who).latencies);
    return record_latencies(who, row, 100, jobs, rate);
  }
  Result<void> latency_half(Who who) { return latency_at_half_of(who, who, "latency_half"); }
  Result<void> latency_same(Who who) { return latency_at_half_of(Who::peer, who, "latency_same"); }

  Result<void> idle(Who who) {
    auto worker = start(who);
    if (!worker) return worker.error();
    const Json work{{"do", "work"}, {"queue", kQueue}, {"concurrency", 1}};
    if (auto working = ask(*worker, work); !working) return working.error();
    std::this_thread::sleep_for(500ms);
    const auto seconds = amount(who).idle_seconds;
    const auto count = server_.commands_within(seconds, settings_.stopped);
    if (!count) return count.error();
    results_.add("idle_commands", persistence_, name(who), {static_cast<double>(*count) / seconds});
    return {};
  }

  // A million jobs, from empty to done: what they weigh while they wait, what the server spends on
  // each, and how much memory the worker needs that works them all.
  Result<void> million(Who who) {
    const auto jobs = amount(who).waiting;
    const auto per_job = static_cast<double>(jobs);
    if (auto reset = server_.reset_times(); !reset) return reset;
    const auto empty = server_.used_memory();
    if (!empty) return empty.error();
    const auto cpu_before = server_.cpu_seconds();
    if (!cpu_before) return cpu_before.error();
    {
      auto producer = start(who);
      if (!producer) return producer.error();
      if (auto filled = ask(*producer, bulk(kQueue, jobs), 600s); !filled) return filled.error();
    }
    std::this_thread::sleep_for(200ms);  // for the server to notice that the connections are gone
    const auto full = server_.used_memory();
    if (!full) return full.error();
    results_.add("memory_per_job", persistence_, name(who), {(*full - *empty) / per_job});
    if (who == Who::floor) return {};

    auto worker = start(who);
    if (!worker) return worker.error();
    const Json command{{"do", "process"},
                       {"queue", kQueue},
                       {"jobs", jobs},
                       {"concurrency", 100},
                       {"keep", "default"}};
    if (auto worked = ask(*worker, command, 600s); !worked) return worked.error();
    const auto cpu_after = server_.cpu_seconds();
    if (!cpu_after) return cpu_after.error();
    results_.add("server_cpu_per_job", persistence_, name(who),
                 {(*cpu_after - *cpu_before) * 1e6 / per_job});
    results_.add("worker_memory", persistence_, name(who), {worker->peak_memory() / kMiB});
    const auto times = server_.script_times();
    if (!times) return times.error();
    results_.add("script_p999", persistence_, name(who), {times->p999_ms});
    return {};
  }

  // Of a v1 queue to one of 2.0 on the same server.
  Result<void> migration(Count jobs, const std::string& row) {
    const auto start = [this] {
      return Process::start(
          {settings_.program, "bench", "--subject", "migration", "--url", server_.url()},
          settings_.stopped);
    };
    {
      auto source = start();
      if (!source) return source.error();
      const Json make{{"do", "v1_queue"}, {"queue", kQueue}, {"jobs", jobs}};
      if (auto made = ask(*source, make, 600s); !made) return made.error();
    }
    auto process = start();
    if (!process) return process.error();
    const auto answer = ask(*process, {{"do", "migrate"}, {"queue", kQueue}}, 1'200s);
    if (!answer) return answer.error();
    const auto moved = answer->at("jobs").get<Count>();
    if (moved != jobs)
      return Error{ErrorCode::protocol, std::to_string(moved) + " jobs were migrated", {}};
    results_.add(row, persistence_, name(Who::ours),
                 {static_cast<double>(jobs) / answer->at("seconds").get<double>()});
    results_.add(row + "_memory", persistence_, name(Who::ours), {process->peak_memory() / kMiB});
    results_.add(row + "_longest_call", persistence_, name(Who::ours),
                 {answer->at("longest_call_ms").get<double>()});
    return {};
  }

  Server& server_;
  const Settings& settings_;
  Results& results_;
  std::string persistence_;
  unsigned repeat_ = 0;
};

}  // namespace

std::vector<std::string_view> rows() {
  std::vector<std::string_view> names;
  for (const auto& row : Bench::rows()) names.push_back(row.name);
  return names;
}

Result<void> run(Server& server, const Settings& settings, Results& results) {
  return Bench(server, settings, results).run();
}

}  // namespace bench

// SPDX-License-Identifier: MIT
#include "bench/results.h"

#include <algorithm>
#include <utility>

namespace bench {

std::vector<double> Series::values() const {
  std::vector<double> all;
  for (const auto& sample : samples) all.push_back(sample.value);
  return all;
}

const std::vector<RowKind>& row_kinds() {
  static const std::vector<RowKind> kinds{
      {"bulk_add", "bulk add, 1,000 a call", "jobs/s"},
      {"concurrent_add", "500 adds at a time, one thread", "jobs/s"},
      {"blocking_add", "64 blocking threads (peer: 64 adds at a time)", "jobs/s"},
      {"process_c1", "no-op jobs, concurrency 1", "jobs/s"},
      {"process_c10", "no-op jobs, concurrency 10", "jobs/s"},
      {"process_c100", "no-op jobs, concurrency 100", "jobs/s"},
      {"process_kept_c1", "all kept, concurrency 1", "jobs/s"},
      {"process_kept_c10", "all kept, concurrency 10", "jobs/s"},
      {"process_kept_c100", "all kept, concurrency 100", "jobs/s"},
      {"latency_idle_p50", "add to start, idle, p50", "ms", true},
      {"latency_idle_p99", "add to start, idle, p99", "ms", true},
      {"latency_half_p50", "add to start, half of its own load, p50", "ms", true},
      {"latency_half_p99", "add to start, half of its own load, p99", "ms", true},
      {"latency_same_p50", "add to start, half of the peer's load, p50", "ms", true},
      {"latency_same_p99", "add to start, half of the peer's load, p99", "ms", true},
      {"idle_commands", "commands of an idle worker", "1/s", true},
      {"worker_memory", "most memory of a worker (VmHWM)", "MiB", true},
      {"memory_per_job", "server memory of a waiting job", "bytes", true},
      {"server_cpu_per_job", "server CPU, add to done", "us", true},
      {"script_p999", "script call, p99.9", "ms", true},
      {"migration", "migration from v1", "jobs/s"},
      {"migration_memory", "its memory (VmHWM)", "MiB", true},
      {"migration_longest_call", "the source's slowest answer to it", "ms", true},
      {"large_migration", "migration of 5,000,000", "jobs/s"},
      {"large_migration_memory", "its memory (VmHWM)", "MiB", true},
      {"large_migration_longest_call", "the source's slowest answer to it", "ms", true},
  };
  return kinds;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
      {"bulk_add_vs_floor", "bulk_add", "floor", false, 0.65},
      {"bulk_add_vs_peer", "bulk_add", "peer", false, 10.0},
      {"concurrent_add_vs_peer", "concurrent_add", "peer", false, 6.0},
      {"blocking_add_vs_peer", "blocking_add", "peer", false, {}},
      {"process_vs_peer", "process_c100", "peer", false, 8.0},
      {"process_c10_vs_peer", "process_c10", "peer", false, {}},
      {"process_c1_vs_peer", "process_c1", "peer", false, 1.0},
      {"process_kept_vs_peer", "process_kept_c100", "peer", false, {}},
      {"latency_p50_vs_peer", "latency_idle_p50", "peer", true, 0.5},
      {"latency_p99_vs_peer", "latency_idle_p99", "peer", true, 0.5},
      {"latency_half_p50_vs_peer", "latency_half_p50", "peer", true, {}},
      {"latency_half_p99_vs_peer", "latency_half_p99", "peer", true, {}},
      {"latency_same_p50_vs_peer", "latency_same_p50", "peer", true, 0.5},
      {"latency_same_p99_vs_peer", "latency_same_p99", "peer", true, 0.5},
      {"memory_per_job_vs_floor", "memory_per_job", "floor", true, 1.10},
      {"server_cpu_per_job_vs_peer", "server_cpu_per_job", "peer", true, {}},
      {"idle_commands_per_second", "idle_commands", "", true, 1.0},
      {"worker_memory_mib", "worker_memory", "", true, 64.0},
      {"script_p999_ms", "script_p999", "", true, 2.0},
      {"migration_per_second", "migration", "", false, 20'000.0},
      {"migration_memory_mib", "migration_memory", "", true, 128.0},
      {"large_migration_per_second", "large_migration", "", false, 20'000.0},
      {"large_migration_memory_mib", "large_migration_memory", "", true, 128.0},
  };
  return all;
}

void Results::add(std::string_view row, std::string_view persistence, std::string_view subject,
                  Sample sample) {
  const auto is_it = [&](const Series& each) {
    return each.row == row && each.persistence == persistence && each.subject == subject;
  };
  auto at = std::find_if(series_.begin(), series_.end(), is_it);
  if (at == series_.end()) {
    series_.push_back({std::string(row), std::string(persistence), std::string(subject), {}});
    at = std::prev(series_.end());
  }
  at->samples.push_back(sample);
}

const Series* Results::find(std::string_view row, std::string_view persistence,
                            std::string_view subject) const {
  for (const auto& each : series_)
    if (each.row == row && each.persistence == persistence && each.subject == subject) return &each;
  return nullptr;
}

std::vector<std::string> Results::persistences() const {
  std::vector<std::string> found;
  for (const auto& each : series_)
    if (std::find(found.begin(), found.end(), each.persistence) == found.end())
      found.push_back(each.persistence);
  return found;
}

std::optional<double> Results::of(const Target& target, std::string_view persistence) const {
  const auto* ours = find(target.row, persistence, "ours");
  if (ours == nullptr) return std::nullopt;
  if (target.against.empty()) return median(ours->values());
  const auto* theirs = find(target.row, persistence, target.against);
  if (theirs == nullptr) return std::nullopt;
  return paired_ratio(ours->values(), theirs->values());
}

}  // namespace bench

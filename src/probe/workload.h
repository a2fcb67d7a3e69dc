// SPDX-License-Identifier: MIT
// A random but repeatable life of one queue, told by its scripts alone: adds of all kinds, claims
// and their ends, what operators do, schedulers and flows; late, repeated and mistaken calls
// included. What must hold whatever is called is looked at while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

class Workload {
 public:
  // `q` is open.
  Workload(ScriptQueue& q, std::uint32_t seed) : q_(q), random_(seed) {}

  // One call, or two that belong together.
  void step();

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::string some_id();
  std::vector<std::string> some_ids();
  std::vector<JobRun> some_runs();
  Retention some_rule();
  std::vector<JobToAdd> some_jobs();

  void add();
  void claim();
  void end_claim();
  void look_after();
  void operate();
  void configure();
  void look();
  void schedule();
  void flow();
  void deduplicate();

  ScriptQueue& q_;
  std::mt19937 random_;
  std::vector<std::string> ids_;  // that were ever named
  std::vector<JobRun> runs_;      // that were claimed, of which many have ended
  std::uint64_t minted_ = 274'557'032'793'636'864;
  int plans_ = 0;
};

}  // namespace echomq::inline v2::probe

// SPDX-License-Identifier: MIT
// A random but repeatable life of one queue: adds, claims, ends, late and repeated calls, time that
// passes, recoveries and evictions, in an order that a seed decides. It keeps to what callers do
// (it ends what it claimed, and acts on what it saw), mistakes included.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/script_queue.h"

namespace echomq::test {

class Workload {
 public:
  // Opens the queue.
  Workload(ScriptQueue& queue, std::uint32_t seed);

  // One call of a script, or a few that belong together.
  void step();
  void run(int steps);

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::vector<JobToAdd> new_jobs();
  void add();
  void deduplicate();
  void end_owners();
  void claim();
  void finish();
  void retry();
  void release();
  void report();
  void move();
  void pass_time();
  void sweep();
  // Some of the claims that are held, which stop being so when `end`. Now and then one that has
  // ended.
  std::vector<JobRun> some(bool end);

  ScriptQueue& q_;
  std::mt19937 random_;
  static constexpr std::uint64_t kFirstMinted = 274'557'032'793'636'864;
  std::uint64_t next_minted_ = kFirstMinted;
  std::uint64_t flush_ = 0;
  std::vector<JobToAdd> last_added_;
  std::uint64_t deduplicated_flush_ = 0;
  std::vector<JobToAdd> last_deduplicated_;
  std::vector<JobRun> held_;
  std::vector<JobRun> ended_;
};

// INV7: every job that there is stands in exactly one state, and every state holds jobs only. One
// line for each that does not; trash counts as a state.
std::vector<std::string> jobs_out_of_state(ScriptQueue& queue);

}  // namespace echomq::test

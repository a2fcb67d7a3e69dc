// SPDX-License-Identifier: MIT
// A random but repeatable life of one queue, as steps for SideBySide: what several clients call,
// one after the other, each with its own node, lanes and clock; mistakes, repetitions and what was
// seen too long ago included. It looks at the model to know what there is to act on, so each step
// is made when the one before is done.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "support/model/side_by_side.h"

namespace echomq::test {

class Life {
 public:
  static constexpr std::size_t kClients = 3;

  // `is_long`: with so many waiting jobs that what leaves the middle of the line leaves ghosts.
  Life(const QueueModel& model, std::uint32_t seed, bool is_long = false);

  Step next();

 private:
  struct Client {
    std::int64_t skew = 0;        // of its clock
    std::uint64_t flushes = 0;    // of its lane
    std::vector<Step> repeats{};  // of its last flush
  };
  struct NamedPlan {
    std::string name;
    flow::Plan entries;
  };
  using Act = Step (Life::*)();

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::int64_t up_to(std::size_t most) { return static_cast<std::int64_t>(below(most + 1)); }

  template <class Call>
  Step step(std::string text, Call call);
  Client& client() { return clients_[client_]; }
  [[nodiscard]] std::int64_t now() { return clock_ + client().skew; }

  std::vector<JobToAdd> new_jobs();
  Ids some_jobs();
  std::vector<JobRun> some_runs();
  // One of so many has no limit to its count.
  Retention some_rule(std::size_t one_without_count_in);
  template <class Item>
  void maybe_twice(std::vector<Item>& items);
  std::int64_t seen_in_line(const std::string& id);
  std::string some_scheduler();
  FireStep step_of(const std::string& id);
  flow::Plan new_plan(const std::string& name);
  EndOfChild end_told_by(const std::string& parent, const std::string& ref, std::uint64_t epoch);
  Flush next_flush();

  Step open();
  Step add();
  Step add_deduplicated();
  Step repeat_flush();
  Step end_owners();
  Step hold_owners();
  Step claim();
  Step finish();
  Step retry();
  Step release();
  Step extend();
  Step progress();
  Step promote();
  Step recover();
  Step evict();
  Step reschedule();
  Step prioritize();
  Step remove();
  Step retry_finished();
  Step update();
  Step log();
  Step limit();
  Step hold();
  Step pause();
  Step keep_metrics();
  Step emit();
  Step trim();
  Step look();
  Step pop_mark();
  Step lease_node();
  Step lose();
  Step put_scheduler();
  Step fire();
  Step pause_scheduler();
  Step remove_schedulers();
  Step add_flow();
  Step wait_for_children();
  Step settle();
  Step delivered();
  Step plan();
  Step close_plan();
  Step obliterate();
  Step fill();

  const QueueModel& model_;
  std::mt19937 random_;
  bool is_long_;
  std::vector<Client> clients_{kClients};
  std::size_t client_ = 0;
  std::int64_t clock_ = 1'800'000'000'000;
  std::uint64_t next_minted_ = kFirstMinted;
  unsigned nonce_ = 0;
  bool is_obliterating_ = false;
  std::vector<JobRun> runs_;      // that were seen, of which many have ended
  std::vector<Seen> delayed_;     // seen at some time
  std::vector<Seen> leases_;      // seen at some time
  std::vector<FireStep> ticks_;   // worked out at some time
  std::vector<NamedPlan> plans_;  // of which some is added
  // Few, so that duplicates and adds of ids that are gone happen.
  static constexpr std::size_t kCustomIds = 40;
  static constexpr std::uint64_t kFirstMinted = 274'557'032'793'636'864;
};

}  // namespace echomq::test

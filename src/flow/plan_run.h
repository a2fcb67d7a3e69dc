// SPDX-License-Identifier: MIT
// PlanRun: adds what a plan says, level by level, in each queue one call at a time. Saying an entry
// once more changes nothing, so any number of processes may do this with one plan, and any of them
// may stop anywhere; when all is added the record is deleted.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "flow/plan.h"
#include "queue/queue_core.h"
#include "queue/relay.h"

namespace echomq::inline v2::flow {

class PlanRun : public std::enable_shared_from_this<PlanRun> {
 public:
  struct Outcome {
    std::vector<std::size_t> taken;  // entries whose jobs could not be added: their ids are taken
    bool parent_gone = false;        // the job that was to get children is not there any more
  };
  using Done = Function<void(Result<Outcome>)>;

  // `home`: where the plan `id` is recorded.
  static void start(std::shared_ptr<QueueCore> home, std::string id, Plan plan, Done done);

  PlanRun(std::shared_ptr<QueueCore> home, std::string id, Plan plan, Done done);

 private:
  // The entries of one level in one queue, and how far they are.
  struct Chain {
    std::shared_ptr<QueueCore> queue;
    std::vector<std::size_t> entries;
    std::size_t at = 0;
    std::size_t sent = 0;  // on their way, from `at` on
    bool reopened = false;
  };

  void next_level();
  void open(Chain& chain);
  void send(Chain& chain);
  void answered(Chain& chain, Result<wire::Reply> reply);
  void note(const Chain& chain, const wire::Reply& reply);
  void reopen(Chain& chain);
  void chain_ended();
  void fail(const Error& why);
  void close();
  [[nodiscard]] bool is_dead(const PlanEntry& entry) const;
  [[nodiscard]] ScriptCall add_call(Chain& chain) const;

  std::shared_ptr<QueueCore> home_;
  std::string id_;
  std::string name_;  // `<home>:<id>`
  Plan plan_;
  Done done_;
  std::chrono::milliseconds began_;     // by monotonic_ms()
  std::chrono::milliseconds deadline_;  // for the calls that are on their way
  std::vector<std::size_t> first_of_;  // edges: the first entry that names children of the same job
  std::vector<bool> left_out_;         // jobs: not added; edges: the job that waits is not there
  std::size_t next_ = 0;               // the first entry of the next level
  std::map<std::string, Chain> chains_;
  std::size_t running_ = 0;  // chains
  std::optional<Error> problem_;
  Outcome outcome_;
  std::map<std::string, std::shared_ptr<Relay>> relays_;
};

}  // namespace echomq::inline v2::flow

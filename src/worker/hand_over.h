// SPDX-License-Identifier: MIT
// HandOver: gives the jobs that a consumer claims to whoever fetches, and takes back how they
// ended. It wants as many jobs as fetches wait for, so none is claimed in vain but for a fetch that
// gives up while its claim is on its way.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/function.h"
#include "queue/queue_core.h"
#include "wire/loop.h"
#include "worker/runner.h"
#include "worker/settlement.h"

namespace echomq::inline v2 {

class HandOver final : public Runner, public std::enable_shared_from_this<HandOver> {
 public:
  using Fetched = Function<void(Result<Jobs>)>;
  using Settled = Function<void(Result<void>)>;

  HandOver(std::shared_ptr<QueueCore> queue, unsigned max_held)
      : queue_(std::move(queue)), max_held_(max_held) {}

  // Answers one job or more, up to `most`, or none when the time is over. What was ready when it
  // came is found even without time: a claim that was sent since is waited for.
  void fetch(unsigned most, std::chrono::milliseconds timeout, Fetched done);
  // How work on a job ended; nullopt: it is given back. `done` may be empty; it is told what the
  // server answered, or a timeout when that takes too long.
  void finish(const std::shared_ptr<RunningJob>& job, const std::optional<Outcome>& outcome,
              Settled done);
  // Nobody is there any more to take these, which a fetch was given just now.
  void give_back_later(const Jobs& jobs);
  // What the server answered.
  void settled(const Settlement& settlement, std::string_view status);

  void run(const Jobs& jobs) override;
  [[nodiscard]] unsigned capacity(std::size_t held) const override;
  bool withdraw(const std::shared_ptr<RunningJob>& job) override { return !job->begun; }
  void claims_moved() override;
  void stop(const Result<void>& status) override;

 private:
  struct Fetch {
    unsigned most = 0;
    std::uint64_t claims_before = 0;  // sent before it came
    bool late = false;                // its time is over
    Fetched done{};
    std::shared_ptr<wire::Loop::Timer> timer{};
  };
  struct Finishing {
    Settled done;
    std::shared_ptr<wire::Loop::Timer> timer;
  };

  void overdue(const std::shared_ptr<Fetch>& fetch);
  void unanswered(const RunningJob& job);
  void answer(const RunningJob& job, Result<void> result);
  [[nodiscard]] bool may_come(const Fetch& fetch) const;

  std::shared_ptr<QueueCore> queue_;
  unsigned max_held_;
  std::deque<std::shared_ptr<Fetch>> fetches_;
  std::unordered_map<const RunningJob*, Finishing> finishing_;
  std::optional<Error> stopped_;
};

}  // namespace echomq::inline v2

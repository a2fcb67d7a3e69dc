// SPDX-License-Identifier: MIT
// Runner: who works the jobs that a WorkerCore holds. The PoolRunner runs a handler on them; the
// HandOver gives them to whoever fetches.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "echomq/job.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

class Runner {
 public:
  using Jobs = std::vector<std::shared_ptr<RunningJob>>;
  // Those that are worked no more, and how that ended; nullopt: the job is given back.
  using Ended = std::vector<std::pair<std::shared_ptr<RunningJob>, std::optional<Outcome>>>;

  // How far the claims are.
  struct Claims {
    bool opening = false;  // the queue is being opened: the first may yet be sent
    std::uint64_t sent = 0;
    std::uint64_t through = 0;  // of those sent, in their order: answered, and their jobs are here
  };

  struct Events {
    std::function<void(const Ended&)> ended;
    // More jobs are wanted than before: those that are ready are to be looked for.
    std::function<void()> wanted;
    // It is to be asked again how many jobs it takes.
    std::function<void()> changed;
    // It takes fewer than before: of those that nobody has begun the rest is to go back.
    std::function<void()> lowered;
    std::function<Claims()> claims;
  };

  virtual ~Runner() = default;
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Once, before all else.
  void attach(Events events) { events_ = std::move(events); }
  virtual void run(const Jobs& jobs) = 0;
  // How many jobs it works at most, those that it works already included: so many those are.
  [[nodiscard]] virtual unsigned capacity(std::size_t held) const = 0;
  // What a claim brings that was sent before the capacity fell is kept up to so many.
  [[nodiscard]] virtual unsigned most(std::size_t held) const { return capacity(held); }
  // Takes a job back, if nobody has begun it: nobody will, and it is not told as ended.
  virtual bool withdraw(const std::shared_ptr<RunningJob>& job) = 0;
  // The claims may be further than before.
  virtual void claims_moved() {}
  // Nobody begins a job any more. Those that nobody has begun are not told as ended. `status`: why,
  // ok where that was asked for.
  virtual void stop(const Result<void>& status) = 0;

 protected:
  [[nodiscard]] const Events& events() const { return events_; }

 private:
  Events events_;
};

}  // namespace echomq::inline v2

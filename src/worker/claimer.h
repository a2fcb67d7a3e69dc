// SPDX-License-Identifier: MIT
// Claimer: takes jobs out of the queue, in two steps. A claim moves ids into `active` and touches
// no job hash, because it could not have declared it; then the jobs are loaded, and handed over
// (protocol.md 5.1).
//
// It also keeps the rule of 5.5, that at most one job that has been through a crash runs in a
// process: a claim asks for such a job only with the process's permit, which goes with the job
// until ended().
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "queue/queue_core.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

class Claimer : public std::enable_shared_from_this<Claimer> {
 public:
  using Jobs = std::vector<std::shared_ptr<RunningJob>>;

  // What the answer of a claim tells. The server looks for delayed and active jobs only when fewer
  // were ready than asked for.
  struct Claimed {
    unsigned asked = 0;
    unsigned taken = 0;          // these are being loaded
    std::int64_t ready = 0;      // left for others
    std::int64_t due_ms = 0;     // of the next delayed job; 0: none is known
    bool anyone_active = false;  // or waits in the crashed lane
    bool open = true;            // false: a gate of the queue is closed after this claim
    std::int64_t opens_ms = 0;   // when that gate opens by itself; 0: no time opens it
  };

  struct Events {
    std::function<void(const Claimed&)> claimed;
    // The claim took nothing, or nobody knows what it took.
    std::function<void(const Error&)> refused;
    // Both in the order of the claim. `unfit` are to be given back unworked: gone, lost on the way,
    // late, a second one that has been through a crash, or claimed by a worker that stops.
    std::function<void(Jobs fit, Jobs unfit)> loaded;
    // A job that has been through a crash waits, and now it may be taken.
    std::function<void()> crashed_ready;
    // What jobs call when their handlers report progress; from any thread.
    std::function<void()> progress;
  };

  Claimer(std::shared_ptr<QueueCore> queue, std::chrono::milliseconds lease, Events events)
      : queue_(std::move(queue)),
        lease_(lease),
        events_(std::move(events)),
        permit_hook_(std::make_shared<ClientCore::Hook>(events_.crashed_ready)) {}

  // Asks for up to `count` jobs.
  void claim(unsigned count);
  // The run of a job that was fit is over.
  void ended(const std::shared_ptr<RunningJob>& job);
  // No job is fit any more.
  void stop() { stopping_ = true; }
  // No claim and no load is on its way.
  [[nodiscard]] bool idle() const { return on_their_way_ == 0; }
  // How many claims there were, and how many of them are not through. They come through in order.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] unsigned on_their_way() const { return on_their_way_; }

 private:
  struct Claim;

  void send(const std::shared_ptr<Claim>& claim);
  void answered(const std::shared_ptr<Claim>& claim, Result<wire::Reply> reply);
  void failed(const Claim& claim, const Error& error);
  void load(const std::shared_ptr<Claim>& claim);
  void loaded(Claim& claim);

  std::shared_ptr<QueueCore> queue_;
  std::chrono::milliseconds lease_;
  Events events_;
  std::shared_ptr<ClientCore::Hook> permit_hook_;
  std::shared_ptr<RunningJob> permit_holder_;  // the one job that has been through a crash
  std::uint64_t jobs_ = 0;                     // claimed so far
  std::uint64_t sent_ = 0;
  unsigned on_their_way_ = 0;  // claims and loads
  bool stopping_ = false;
};

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// Sweeper: recovery of jobs whose worker is gone, without stealing from the healthy
// (protocol.md 5.4).
//
// After any outage all leases look expired at once. So: let all others find the server again, note
// the leases that are expired, wait one renewal interval of unbroken contact with the same server
// run, and take back only those whose score has not changed. Whatever broke the contact starts the
// wait anew.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "queue/queue_core.h"
#include "queue/relay.h"
#include "worker/evictor.h"
#include "worker/releaser.h"

namespace echomq::inline v2 {

class Sweeper : public std::enable_shared_from_this<Sweeper> {
 public:
  struct Recovered {
    std::uint64_t requeued = 0;
    std::uint64_t failed = 0;
  };

  Sweeper(std::shared_ptr<QueueCore> queue, unsigned max_crashes, Keep keep_failed,
          std::shared_ptr<Evictor> evictor, std::shared_ptr<Releaser> releaser,
          std::shared_ptr<Relay> relay, std::function<void(Recovered)> recovered)
      : queue_(std::move(queue)),
        max_crashes_(max_crashes),
        keep_failed_(keep_failed),
        evictor_(std::move(evictor)),
        releaser_(std::move(releaser)),
        relay_(std::move(relay)),
        recovered_(std::move(recovered)) {}

  // Called once every renewal interval.
  void tick();

 private:
  using Expired = std::map<std::string, std::uint64_t>;  // id -> lease

  void looked(Result<wire::Reply> reply);
  void recover(const Expired& expired);
  void recover(const Expired& expired, const Keep& keep);
  [[nodiscard]] Keep rule_of(std::string_view head) const;

  std::shared_ptr<QueueCore> queue_;
  unsigned max_crashes_;
  Keep keep_failed_;
  std::shared_ptr<Evictor> evictor_;
  std::shared_ptr<Releaser> releaser_;
  std::shared_ptr<Relay> relay_;
  std::function<void(Recovered)> recovered_;
  Expired suspects_;           // at the last tick
  std::uint64_t contact_ = 0;  // under which they were seen
  std::chrono::milliseconds contact_since_{0};
  bool looking_ = false;
};

}  // namespace echomq::inline v2

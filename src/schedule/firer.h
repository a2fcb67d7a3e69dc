// SPDX-License-Identifier: MIT
// Firer: makes the jobs of schedulers whose time has come. It peeks at those that are due, reads
// their hashes, works out their ticks and declares them to the script, which makes those that lead
// on from what is stored still (protocol.md 5.2): any number of workers may race.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/function.h"
#include "queue/queue_core.h"
#include "schedule/definition.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::schedule {

class Firer : public std::enable_shared_from_this<Firer> {
 public:
  struct Fired {
    bool more_due = false;      // there may be more
    std::int64_t again_ms = 0;  // it could not be done: the time to try again; 0: no need
  };
  using Done = Function<void(Fired)>;

  explicit Firer(std::shared_ptr<QueueCore> queue) : queue_(std::move(queue)) {}

  // Fires what is due, at most 256 ticks. The time of the next one stands in the marker afterwards.
  void fire(Done done) { peek_from(0, std::move(done)); }
  // Tells when the earliest tick is due that is due already; 0: none is.
  void look(Function<void(std::int64_t due_ms)> done);
  // As far as was seen up to now.
  [[nodiscard]] bool has_schedulers() const { return has_schedulers_; }

 private:
  // A scheduler that is due, as it was read.
  struct Due {
    std::string id;
    std::int64_t next_ms = 0;
    std::string def{};
    Ran ran{};
  };
  struct Peek {
    std::size_t first = 0;  // among those that are due
    bool is_full = false;   // there may be more behind these
    std::vector<Due> due{};
    std::size_t missing = 0;
    Done done{};
  };
  struct Step {
    const Due* of = nullptr;
    TickStep step{};
    std::string last_job{};  // which must be over; empty: nobody asks
  };

  void peek_from(std::size_t first, Done done);
  void peeked(std::size_t first, const std::vector<wire::Scored>& due, Done done);
  void read(const std::shared_ptr<Peek>& peek);
  void act(const std::shared_ptr<Peek>& peek);
  std::vector<Step> work_out(const Peek& peek, std::int64_t now_ms);
  void mark_next(Done done);
  void complain(const std::string& id, const std::string& why);
  [[nodiscard]] Fired try_again() const;

  std::shared_ptr<QueueCore> queue_;
  bool has_schedulers_ = false;
  std::set<std::string> complained_;  // of these schedulers
};

}  // namespace echomq::inline v2::schedule

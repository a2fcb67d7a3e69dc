// SPDX-License-Identifier: MIT
// Relay: tells parents how their children ended, whatever queues those are in, and then lets the
// outbox of the children's queue forget it. What a parent that ends tells its own parent goes on
// from here.
//
// Nobody waits for it: a message that could not be delivered is still in its outbox, and a sweep
// finds it. Messages for one queue travel together, one call at a time; what comes meanwhile
// travels in the next one. What was delivered is forgotten at once, or where nobody waits a moment
// later, many together.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "echomq/options.h"
#include "queue/outbox.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// The rule of retention for parents that end because of their children: no worker of their queue is
// asked for its own.
inline constexpr std::int64_t kFallenParents = 10'000;
inline constexpr std::chrono::milliseconds kFallenParentsAge = std::chrono::hours(24 * 7);

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  enum class Forget { at_once, in_a_moment };

  // `queue`: of the children. `ended`: called whenever there is nothing left to do.
  Relay(std::shared_ptr<QueueCore> queue, std::function<void()> ended,
        Forget forget = Forget::at_once)
      : queue_(std::move(queue)), ended_(std::move(ended)), when_(forget) {}

  void push(std::vector<EndMessage> messages);
  // An entry of the outbox that need not be there any more, if it begins with `seen` still.
  void forget(std::string field, std::string seen);
  [[nodiscard]] bool idle() const { return calls_ == 0; }
  // How many could not be delivered so far.
  [[nodiscard]] std::size_t undelivered() const { return undelivered_; }

 private:
  using Batch = std::vector<EndMessage>;
  struct Lane {  // to one queue
    std::shared_ptr<QueueCore> queue;
    std::deque<EndMessage> backlog;
    bool in_flight = false;
  };

  struct Told {  // what is to be forgotten
    std::string field;
    std::string seen;
    bool orphaned = false;
  };

  void pump(Lane& lane);
  static std::shared_ptr<Batch> take(Lane& lane);
  void settled(Lane& lane, const Batch& batch, Result<wire::Reply> reply);
  void forget(const Batch& batch, const std::vector<bool>& told, const std::vector<bool>& orphaned);
  void forget_soon();
  void send_told();
  void go_on(const std::shared_ptr<QueueCore>& queue, std::vector<EndMessage> messages);
  void ended_call();

  std::shared_ptr<QueueCore> queue_;
  std::function<void()> ended_;
  Forget when_;
  std::vector<Told> told_;
  bool waiting_ = false;  // for more that was told
  std::map<std::string, Lane> lanes_;
  std::size_t calls_ = 0;  // on their way
  std::size_t undelivered_ = 0;
};

// Delivers these and waits for that; answers how many could not be. From any thread but the loop's.
Result<std::size_t> deliver(QueueCore& queue, std::vector<EndMessage> messages);
// All that stands in the outbox. What is left there are notes of flows, whose number is answered.
// Errors: wrong_state where a flow that is recorded here is not all added, or a parent could not be
// told, and those of the connection.
Result<std::size_t> deliver_outbox(QueueCore& queue);

}  // namespace echomq::inline v2

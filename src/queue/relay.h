// SPDX-License-Identifier: MIT
// Relay: tells parents how their children ended, whatever queues those are in, and then lets the
// outbox of the children's queue forget it. What a parent that ends tells its own parent goes on
// from here.
//
// Nobody waits for it: a message that could not be delivered is still in its outbox, and a sweep
// finds it. Messages for one queue travel together with those of other relays (queue/parents.h).
// What was delivered is forgotten at once, or where nobody waits a moment later, many together.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
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
  [[nodiscard]] const QueueCore& queue() const { return *queue_; }

  // For Parents: what became of a message; then how many were noted.
  void note(const EndMessage& message, bool told, bool orphaned);
  void settled(std::size_t messages);
  // Something else is to be waited for: parents that ended have told theirs.
  void waits_for_another() { ++calls_; }
  void other_ended(const Relay& other);

 private:
  struct Told {  // what is to be forgotten
    std::string field;
    std::string seen;
    bool orphaned = false;
  };

  void forget_soon();
  void send_told();
  void ended_calls(std::size_t count);

  std::shared_ptr<QueueCore> queue_;
  std::function<void()> ended_;
  Forget when_;
  std::vector<Told> told_;
  bool waiting_ = false;   // for more that was told
  std::size_t calls_ = 0;  // on their way, and messages that are
  std::size_t undelivered_ = 0;
};

// Delivers these and waits for that; answers how many could not be. From any thread but the loop's.
Result<std::size_t> deliver(QueueCore& queue, std::vector<EndMessage> messages);
// Lets the outbox forget these, undelivered: their parents are no more. From any thread but the
// loop's.
Result<void> forget(QueueCore& queue, const std::vector<EndMessage>& messages);
// All that stands in the outbox. What is left there are notes of flows, whose number is answered.
// Errors: wrong_state where a flow that is recorded here is not all added, or a parent could not be
// told, and those of the connection.
Result<std::size_t> deliver_outbox(QueueCore& queue);

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// Parents: what this process has to tell the parents in one queue. The relays of all queues of
// their children hand their messages in here, and these travel together: a call costs the server
// as much as several messages, so children over many queues are told of at the price of one.
//
// One call at a time, made when what arrived has been read: messages of one child keep their
// order. A call that is refused, because of what stands in the place of one of the parents, is
// said again for each parent by itself, so that one that is broken holds up no other.
//
// Thread-safety: on the loop only.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "queue/outbox.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

class Relay;

class Parents {
 public:
  // Those in that queue: the same for all relays of a client.
  static Parents& of(QueueCore& queue);

  explicit Parents(QueueCore& queue) : queue_(queue) {}

  void tell(EndMessage message, std::shared_ptr<Relay> by);

 private:
  struct Telling {
    EndMessage message;
    std::shared_ptr<Relay> by;
  };
  using Batch = std::vector<Telling>;

  void pump_soon();
  void pump();
  Batch take();
  [[nodiscard]] ScriptCall settle_call(const Batch& batch) const;
  void answered(Batch& batch, const Result<wire::Reply>& reply);
  bool say_apart(Batch& batch);
  void tell_theirs(const Batch& batch, std::vector<EndMessage> messages);

  QueueCore& queue_;  // whose part this is
  std::deque<Telling> backlog_;
  std::deque<Batch> apart_;  // each of one parent; said before the others
  bool posted_ = false;
  bool in_flight_ = false;
};

}  // namespace echomq::inline v2

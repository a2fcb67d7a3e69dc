// SPDX-License-Identifier: MIT
// Evictor: deletes what retention moved to trash. The scripts that trim answer the ids, because
// only a caller that knows them can declare their keys; what a crash leaves in trash, a sweep finds
// again. Nobody waits for it, so a few ids wait a moment for more: a call for each would cost the
// server a third of all that a single job costs.
//
// Thread-safety: on the loop only.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "echomq/options.h"
#include "queue/evict_call.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

class Evictor : public std::enable_shared_from_this<Evictor> {
 public:
  Evictor(std::shared_ptr<QueueCore> queue, Keep completed, Keep failed)
      : queue_(std::move(queue)), age_completed_(completed.age), age_failed_(failed.age) {}

  // The answer of a script that applies retention: the second part are the ids that went to trash,
  // the third those of them that have sub-keys.
  void push(const wire::Reply& answer);
  // Applies retention by age, and takes up what is left in trash.
  void sweep();
  [[nodiscard]] bool idle() const { return !in_flight_ && backlog_.empty(); }

 private:
  void pump();
  void pump_soon();
  void send(const std::vector<Evicted>& jobs);
  void look_for_subkeys(std::vector<std::string> ids);

  std::shared_ptr<QueueCore> queue_;
  std::chrono::milliseconds age_completed_;
  std::chrono::milliseconds age_failed_;
  std::deque<Evicted> backlog_;
  bool in_flight_ = false;
  bool waiting_ = false;  // for more ids
};

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// Releaser: what is left to do when jobs are over that own a deduplication id. That they are over
// every add sees by itself; here the entries are given back, and adds that were kept become jobs.
// What a crash leaves undone, and ids whose time is over, a sweep finds by the times in `de:due`.
//
// Thread-safety: on the loop only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "queue/deduplication.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

class Releaser : public std::enable_shared_from_this<Releaser> {
 public:
  // `ended`: called whenever there is nothing left to do.
  Releaser(std::shared_ptr<QueueCore> queue, std::function<void()> ended)
      : queue_(std::move(queue)), ended_(std::move(ended)) {}

  // This job is over and owned that id, or did once.
  void push(OwnedId id);
  // The answer of job/recover: its fourth part are the ids and the jobs that ended, in turn.
  void push(const wire::Reply& recovered);
  // Looks at the entries whose time has come.
  void sweep();
  // What cannot be told from now on is left to the sweeps of others.
  void stop();
  [[nodiscard]] bool idle() const { return !in_flight_ && backlog_.empty(); }

 private:
  void pump();
  void put_back(const std::vector<OwnedId>& ids);
  void done();

  std::shared_ptr<QueueCore> queue_;
  std::function<void()> ended_;
  std::deque<OwnedId> backlog_;
  bool in_flight_ = false;
  bool sweeping_ = false;
  bool stopping_ = false;
};

}  // namespace echomq::inline v2

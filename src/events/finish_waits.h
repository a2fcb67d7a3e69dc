// SPDX-License-Identifier: MIT
// FinishWaits: who in this process waits for jobs of one queue to finish. They share one reader of
// the stream of events, which is there only while somebody waits (and up to one poll longer).
//
// Each wait looks at its job at once. When the job has not ended, the wait is for its event; what
// happened before the reader had its place is found by a second look, and so is what was in a gap.
// An event says only how the job ended, so one more look fetches what it left. The last look is at
// the end of the time: a job that was removed without an event is found gone there.
//
// Thread-safety: on the loop only; the destructor on any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "echomq/queue.h"
#include "events/reader.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

class FinishWaits : public std::enable_shared_from_this<FinishWaits> {
 public:
  using Done = Function<void(Result<FinishedJob>)>;

  explicit FinishWaits(const std::shared_ptr<QueueCore>& queue)
      : queue_(queue), client_(queue->client()), name_(queue->name()) {}
  // Whoever still waits is told `closed`.
  ~FinishWaits();
  FinishWaits(const FinishWaits&) = delete;
  FinishWaits& operator=(const FinishWaits&) = delete;

  static void wait(const std::shared_ptr<QueueCore>& queue, const std::string& id,
                   std::chrono::milliseconds timeout, Done done);

 private:
  struct Waiter {
    std::string id;
    Done done;
    std::shared_ptr<wire::Loop::Timer> deadline{};
    std::optional<JobState> ended{};  // as an event told
    bool covered = false;             // it was looked at, and an end since then will be read
    bool last = false;                // its time is over
  };
  using WaiterPtr = std::shared_ptr<Waiter>;
  // What held when a look was sent: its answer is of that moment.
  struct Look {
    bool covered = false;  // the reader had its place
    bool ended = false;    // an event had told of the end
    bool last = false;
  };

  void begin(const WaiterPtr& waiter, std::chrono::milliseconds timeout);
  void time_over(const WaiterPtr& waiter);
  void look(const WaiterPtr& waiter);
  void looked(const WaiterPtr& waiter, const Look& at, const Result<JobInfo>& job);
  void not_found(const WaiterPtr& waiter, bool last, const Error& why);
  void unfinished(const WaiterPtr& waiter, const Look& at);
  void refused(const WaiterPtr& waiter, bool last, const Error& why);
  void answer(const WaiterPtr& waiter, Result<FinishedJob> result);

  void open_reader();
  void close_reader();
  void placed();
  void read(const std::vector<Event>& events);
  void idle();
  void failed(const Error& why);
  void told(const Event& event);
  [[nodiscard]] std::vector<WaiterPtr> all() const;

  std::weak_ptr<QueueCore> queue_;  // which owns this
  std::shared_ptr<ClientCore> client_;
  std::string name_;
  std::multimap<std::string, WaiterPtr> waiting_;  // by the job's id
  std::shared_ptr<EventReader> reader_;
};

}  // namespace echomq::inline v2

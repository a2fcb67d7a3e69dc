// SPDX-License-Identifier: MIT
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/bad_option.h"
#include "base/weak_call.h"
#include "echomq/events.h"
#include "events/delivery.h"
#include "events/reader.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

Result<EventCursor> checked(const QueueCore& queue, const QueueEventsOptions& options) {
  if (queue.name_error()) return *queue.name_error();
  if (options.poll < milliseconds(100) || options.poll > milliseconds(60'000))
    return bad_option("poll", std::to_string(options.poll.count()), "100 to 60,000 milliseconds");
  return EventCursor::at(options.from);
}

}  // namespace

// Reads on the loop, calls back where the client's callbacks run. The reader asks for the next
// batch once the last one was delivered.
class QueueEventsCore : public std::enable_shared_from_this<QueueEventsCore> {
 public:
  QueueEventsCore(std::shared_ptr<ClientCore> client, EventCallback callback)
      : client_(std::move(client)), delivery_(std::move(callback)) {}

  // Once, before anyone else knows this core.
  void start(const std::string& queue, Result<EventCursor> cursor, milliseconds poll) {
    if (!cursor) return stop_for(cursor.error());
    reader_ = std::make_shared<EventReader>(
        client_, queue, *std::move(cursor), poll,
        EventReader::Hooks{.placed = weak_call(*this, &QueueEventsCore::placed),
                           .read = weak_call(*this, &QueueEventsCore::read),
                           .idle = [] {},
                           .failed = weak_call(*this, &QueueEventsCore::failed)});
    client_->loop().post([self = shared_from_this()] { self->reader_->open(); });
  }

  void end() {
    delivery_.end(/*wait=*/!client_->loop().inside());
    if (!reader_) return;
    client_->loop().post([self = shared_from_this()] { self->reader_->close(); });
  }

  Result<void> ready(milliseconds timeout) {
    if (client_->loop().inside())
      return Error{ErrorCode::invalid_argument,
                   "waiting inside a callback of the I/O thread would wait for itself",
                   {}};
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return placed_ || failure_; });
    if (failure_) return *failure_;
    if (placed_) return {};
    return Error{ErrorCode::timeout,
                 "the listener has not reached the server yet",
                 {{"value", std::to_string(timeout.count())}}};
  }

  Result<void> status() const {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    return {};
  }
  [[nodiscard]] std::string last_id() const { return delivery_.last_id(); }

 private:
  // (loop)
  void placed() {
    delivery_.begin_at(reader_->cursor().position().id());
    const std::lock_guard lock(mutex_);
    placed_ = true;
    changed_.notify_all();
  }

  // (loop)
  void read(std::vector<Event> events) {
    client_->run_callback([self = shared_from_this(), events = std::move(events)] {
      if (!self->delivery_.deliver(events)) return;
      self->client_->loop().post([self] { self->reader_->go_on(); });
    });
  }

  // (loop)
  void failed(const Error& why) {
    client_->log(LogLevel::error, "listening stops: " + why.message());
    stop_for(why);
  }

  void stop_for(const Error& why) {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    changed_.notify_all();
  }

  std::shared_ptr<ClientCore> client_;
  Delivery delivery_;
  std::shared_ptr<EventReader> reader_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool placed_ = false;
  std::optional<Error> failure_;
};

QueueEvents::QueueEvents(const RawQueue& queue, QueueEventsOptions options, EventCallback callback)
    : core_(std::make_shared<QueueEventsCore>(queue.core()->client(), std::move(callback))) {
  core_->start(queue.core()->name(), checked(*queue.core(), options), options.poll);
}

QueueEvents::QueueEvents(QueueEvents&&) noexcept = default;

QueueEvents::~QueueEvents() {
  if (core_) core_->end();
}

Result<void> QueueEvents::ready(milliseconds timeout) { return core_->ready(timeout); }
Result<void> QueueEvents::status() const { return core_->status(); }
std::string QueueEvents::last_id() const { return core_->last_id(); }

}  // namespace echomq::inline v2

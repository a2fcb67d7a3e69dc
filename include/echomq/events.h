// SPDX-License-Identifier: MIT
// Events: what happens to the jobs of a queue, told to whoever listens.
//
//   echomq::QueueEvents events{mail, {}, [](const echomq::Event& event) {
//     std::printf("%s %s\n", event.name.c_str(), event.job.c_str());
//   }};
//   events.ready(5s).value();  // from here on nothing is missed
//
// The server keeps the last events of a queue in a stream of bounded length (EventCap in
// echomq/queue.h). A listener reads it at its own pace, each event once and in order, also across
// lost connections. It never slows the queue down: a listener that is slower than the stream is
// long misses its oldest entries, and is told so by EventType::gap.
//
// One entry of the stream is written by one call of a script and tells of up to 256 jobs; listeners
// get one Event for each job.
//
// What is told is that a job has taken a step, not what it holds: neither data nor result is in an
// event. Read the job for that; it may have gone on, or be gone, by then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/export.h"
#include "echomq/queue.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

enum class EventType {
  added,             // a job was added, whatever its state
  delayed,           // it waits for a time: it was added so, or it waits for its next attempt
  promoted,          // its time has come, it is ready
  progress,          // its handler reported progress
  retried,           // an attempt ended and it gets another one
  released,          // a worker gave it back unworked
  recovered,         // it was taken back from a dead worker
  completed,         // it ended with a result
  failed,            // it ended without one
  prioritized,       // it was given another priority
  removed,           // somebody removed it
  paused,            // of the queue: it gives no jobs from now on
  resumed,           // of the queue: it gives jobs again
  deduplicated,      // an add under a deduplication id that it owns was answered with it
  replaced,          // it was removed for a newer one of its deduplication id
  waiting_children,  // it waits for its children: it was added so, its handler asked for it, or
                     // they run anew
  ready,             // it does not wait for its children any more
  orphaned,          // it ended, and the parent that it would have told is gone
  repaired,          // of the queue: repair_fence brought it back
  custom,            // Queue::emit_event
  gap,               // entries of the stream were missed
  other,             // told by a newer version, see Event::name
};

// "added", "gap"...
ECHOMQ_API std::string_view name(EventType type) noexcept;

struct Event {
  // Where to go on after this event: EventPlace::after(id). "12-0", or "12-3" for the third of
  // several of one entry. Of a gap: after what was missed.
  std::string id{};
  EventType type = EventType::other;
  std::string name{};     // the type's name; custom: what emit_event() was given; other: as it came
  std::string job{};      // the job's id; empty where the event is not about one job
  std::string payload{};  // custom: what emit_event() was given
  std::int64_t at_ms = 0;  // when, milliseconds since 1970 by the server's clock; a gap has no time
  // gap: how many entries are gone, each of which told of one job or more. 0: nobody knows, the
  // numbering began anew (the queue was made again, or the server lost its last data).
  std::uint64_t missed = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

// Where to begin.
class EventPlace {
 public:
  enum class Kind { now, beginning, after };

  // What happens from now on.
  static EventPlace now() { return {Kind::now, {}}; }
  // The oldest that is kept.
  static EventPlace beginning() { return {Kind::beginning, {}}; }
  // After the event of that id, or after a whole entry of the stream ("12-0", "12"). "0" is before
  // the first event that the queue ever had, so what was trimmed meanwhile is a gap. An id that the
  // queue has not reached is one of an earlier queue of that name: a gap, then the beginning.
  static EventPlace after(std::string id) { return {Kind::after, std::move(id)}; }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

 private:
  EventPlace(Kind kind, std::string id) : kind_(kind), id_(std::move(id)) {}

  Kind kind_;
  std::string id_;
};

using EventCallback = std::function<void(const Event&)>;

// A callback for each kind of event, as one: give it to QueueEvents in the place of its callback.
//
//   echomq::EventHandlers{}
//       .on(echomq::EventType::failed, page_somebody)
//       .on_custom("invoice-sent", note_it)
//       .otherwise([](const echomq::Event&) {})
//
// An event goes to the callback that names it, else to `otherwise`, else to nobody. Of two for the
// same, the later one counts.
class EventHandlers {
 public:
  EventHandlers& on(EventType type, EventCallback callback) {
    by_type_[type] = std::move(callback);
    return *this;
  }
  // The custom events of that name; before on(EventType::custom).
  EventHandlers& on_custom(std::string event, EventCallback callback) {
    custom_[std::move(event)] = std::move(callback);
    return *this;
  }
  EventHandlers& otherwise(EventCallback callback) {
    otherwise_ = std::move(callback);
    return *this;
  }

  void operator()(const Event& event) const {
    if (event.type == EventType::custom)
      if (const auto found = custom_.find(event.name); found != custom_.end())
        return found->second(event);
    if (const auto found = by_type_.find(event.type); found != by_type_.end())
      return found->second(event);
    if (otherwise_) otherwise_(event);
  }

 private:
  std::map<EventType, EventCallback> by_type_;
  std::map<std::string, EventCallback> custom_;
  EventCallback otherwise_;
};

struct QueueEventsOptions {
  EventPlace from = EventPlace::now();
  // How long one question to the server waits there for an event: an idle listener says two
  // commands in this time. 100 ms..60 s.
  std::chrono::milliseconds poll{5'000};
};

class QueueEventsCore;

// Listens from its construction to its destruction, on a connection of its own. A queue that is not
// there yet is waited for; looking never makes one.
//
// The callback runs on the I/O thread, or where ClientOptions::post decides, never twice at once;
// it must not throw. The next events are asked for when it has had the last ones, so a slow
// listener holds 64 entries at most.
//
// Thread-safety: every member may be called from any thread.
class ECHOMQ_API QueueEvents {
 public:
  template <class T>
  QueueEvents(Queue<T>& queue, QueueEventsOptions options, EventCallback callback)
      : QueueEvents(queue.raw(), std::move(options), std::move(callback)) {}
  QueueEvents(const RawQueue& queue, QueueEventsOptions options, EventCallback callback);
  // No callback is running and none will be called once it has returned; but on the I/O thread and
  // from inside the callback itself it does not wait for the one that is running.
  ~QueueEvents();
  QueueEvents(QueueEvents&&) noexcept;
  QueueEvents& operator=(QueueEvents&&) = delete;

  // Waits until the listener has its place in the stream: whatever happens after that, it is told
  // of. Errors: timeout, and why it stopped (see status()).
  Result<void> ready(std::chrono::milliseconds timeout);
  // Why it stopped by itself; ok while it listens. A lost connection does not stop it.
  // Errors: invalid_argument (the options), invalid_name, fence, wrong_type, denied, closed.
  [[nodiscard]] Result<void> status() const;
  // The id of the last event that the callback has returned from, for EventPlace::after(): whoever
  // goes on from there misses none and gets none twice. Empty before the first, when ready() has
  // not been reached; then the place where it began.
  [[nodiscard]] std::string last_id() const;

 private:
  std::shared_ptr<QueueEventsCore> core_;
};

// Some events that are kept, read without listening.
struct EventPage {
  std::vector<Event> events{};
  std::string next{};  // where to go on: EventPlace::after(next)
  bool more = false;   // there are more already
};

// The events of up to `entries` entries (1 to 1,000).
// Errors: invalid_argument, invalid_name, not_found (no such queue), fence, wrong_type, denied, and
// those of the connection.
ECHOMQ_API Result<EventPage> read_events(const RawQueue& queue, const EventPlace& from,
                                         std::size_t entries = 100);
template <class T>
Result<EventPage> read_events(Queue<T>& queue, const EventPlace& from, std::size_t entries = 100) {
  return read_events(queue.raw(), from, entries);
}

}  // namespace echomq::inline v2

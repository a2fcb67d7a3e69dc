// SPDX-License-Identifier: MIT
// The scripts of the stream of events: a custom event (queue/emit), and its length (queue/trim).
#include <algorithm>
#include <utility>

#include "base/bad_option.h"
#include "echomq/events.h"
#include "echomq_scripts.h"
#include "events/entry.h"
#include "events/position.h"
#include "protocol/refusal.h"
#include "protocol/registry.h"
#include "queue/queue_core.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::uint64_t kMostCap = 10'000'000;
// The server is busy for about a fifth of a millisecond with so many.
constexpr std::int64_t kTrimAtOnce = 1'000;

Result<void> check_event(std::string_view event, std::string_view payload) {
  if (event.empty() || event.size() > registry::kMaxNameBytes ||
      !std::all_of(event.begin(), event.end(), registry::is_name_char))
    return registry::refusal("the event", event, "is not 1 to 255 letters, digits and . _ -");
  if (event_type(event) != EventType::other || event == name(EventType::other))
    return registry::refusal("the event", event, "has the name of an event of the queue's own");
  if (payload.size() > kMaxEventBytes)
    return Error{ErrorCode::too_large,
                 "the event's payload has " + std::to_string(payload.size()) +
                     " bytes; expected at most " + std::to_string(kMaxEventBytes),
                 {{"value", std::to_string(payload.size())},
                  {"expected", "at most " + std::to_string(kMaxEventBytes)}}};
  return {};
}

// Opens the queue where this process has not, like an add; once more when it is gone meanwhile.
struct Emit : std::enable_shared_from_this<Emit> {
  std::shared_ptr<QueueCore> queue;
  std::string event;
  std::string payload;
  Function<void(Result<std::string>)> done{};
  bool reopened = false;

  Emit(std::shared_ptr<QueueCore> of, std::string_view named, std::string_view bytes)
      : queue(std::move(of)), event(named), payload(bytes) {}

  void begin(Function<void(Result<std::string>)> then) {
    done = std::move(then);
    open();
  }

  void open() {
    queue->with_open([self = shared_from_this()](Result<void> opened) {
      if (!opened) return self->done(opened.error());
      self->call();
    });
  }

  void call() {
    auto call = ScriptCall::of<scripts::QueueEmit>(queue->keys(), {.revision = scripts::kRevision,
                                                                   .now = queue->client()->now_ms(),
                                                                   .name = event,
                                                                   .payload = payload});
    queue->call(std::move(call),
                [self = shared_from_this()](Result<wire::Reply> reply) { self->answered(reply); });
  }

  void answered(const Result<wire::Reply>& reply) {
    if (reply) return done(Position{static_cast<std::uint64_t>(reply->integer), 0}.id());
    if (!protocol::is_absent(reply.error()) || std::exchange(reopened, true))
      return done(reply.error());
    queue->forget_open();
    open();
  }
};

// Shortens the stream call by call; the last one sets the cap, if there is one.
struct Trim : std::enable_shared_from_this<Trim> {
  std::shared_ptr<QueueCore> queue;
  std::uint64_t keep;
  std::optional<EventCap> cap;
  Function<void(Result<std::uint64_t>)> done;
  std::uint64_t removed = 0;

  Trim(std::shared_ptr<QueueCore> of, std::uint64_t newest, std::optional<EventCap> then_cap,
       Function<void(Result<std::uint64_t>)> then)
      : queue(std::move(of)), keep(newest), cap(then_cap), done(std::move(then)) {}

  void call() {
    const auto cap_text = cap ? std::to_string(cap->entries) : std::string();
    auto call =
        ScriptCall::of<scripts::QueueTrim>(queue->keys(), {.revision = scripts::kRevision,
                                                           .keep = keep,
                                                           .most = kTrimAtOnce,
                                                           .cap = cap_text,
                                                           .trim = cap && cap->exact ? "=" : "~"});
    queue->call(std::move(call),
                [self = shared_from_this()](Result<wire::Reply> reply) { self->answered(reply); });
  }

  void answered(const Result<wire::Reply>& reply) {
    if (!reply) return done(queue->look_error(reply.error()));
    removed += static_cast<std::uint64_t>(wire::number_of(reply->items.at(0)));
    if (wire::number_of(reply->items.at(1)) > 0) return call();
    done(removed);
  }
};

Result<std::uint64_t> trim_to(const std::shared_ptr<QueueCore>& queue, std::uint64_t keep,
                              std::optional<EventCap> cap) {
  if (queue->name_error()) return *queue->name_error();
  return queue->client()->wait_for<std::uint64_t>(
      [queue, keep, cap](Function<void(Result<std::uint64_t>)> done) {
        std::make_shared<Trim>(queue, keep, cap, std::move(done))->call();
      });
}

}  // namespace

Result<std::string> RawQueue::emit_event(std::string_view event, std::string_view payload) {
  if (core_->name_error()) return *core_->name_error();
  if (auto ok = check_event(event, payload); !ok) return ok.error();
  auto emit = std::make_shared<Emit>(core_, event, payload);
  return core_->client()->wait_for<std::string>(
      [emit](Function<void(Result<std::string>)> done) { emit->begin(std::move(done)); });
}

Result<void> RawQueue::set_event_cap(const EventCap& cap) {
  if (cap.entries < 1 || cap.entries > kMostCap)
    return bad_option("entries", std::to_string(cap.entries), "1 to 10,000,000");
  const auto trimmed = trim_to(core_, cap.entries, cap);
  if (!trimmed) return trimmed.error();
  return {};
}

Result<std::uint64_t> RawQueue::trim_events(std::uint64_t keep) {
  // More than a stream can hold; and numbers of scripts are whole up to 2^53.
  return trim_to(core_, std::min(keep, kMostCap * 1'000), std::nullopt);
}

}  // namespace echomq::inline v2

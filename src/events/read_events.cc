// SPDX-License-Identifier: MIT
// One page of the stream of events, without listening: a look at the counter, then one read.
#include <algorithm>
#include <utility>

#include "base/bad_option.h"
#include "echomq/events.h"
#include "events/event_cursor.h"
#include "events/stream_look.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kMostOfPage = 1'000;

struct PageReader : std::enable_shared_from_this<PageReader> {
  std::shared_ptr<QueueCore> queue;
  EventCursor cursor;
  std::size_t entries;
  Function<void(Result<EventPage>)> done;
  std::uint64_t last = 0;
  EventPage page{};

  PageReader(std::shared_ptr<QueueCore> of, EventCursor from, std::size_t most,
             Function<void(Result<EventPage>)> then)
      : queue(std::move(of)), cursor(std::move(from)), entries(most), done(std::move(then)) {}

  void look() {
    queue->client()->command(
        look_command(queue->keys().meta),
        [self = shared_from_this()](Result<wire::Reply> reply) { self->looked(std::move(reply)); });
  }

  void looked(Result<wire::Reply> reply) {
    if (!reply) return done(reply.error());
    const auto look = read_look(*reply, queue->name(), queue->keys().meta);
    if (!look) return done(look.error());
    if (!look->exists) return done(no_such_queue(queue->name()));
    last = look->last;
    page.events = cursor.counted(last);
    queue->client()->command(
        read_command(queue->keys().events, cursor.read_from(), entries, /*block_ms=*/0),
        [self = shared_from_this()](Result<wire::Reply> found) { self->read(std::move(found)); });
  }

  void read(Result<wire::Reply> reply) {
    if (!reply) return done(reply.error());
    if (reply->is_error()) return done(stream_refusal(*reply, queue->name(), queue->keys().events));
    auto found = read_stream(*reply);
    page.more = found.size() == entries;
    auto events = found.empty() ? cursor.read_nothing(last) : cursor.read(std::move(found));
    std::move(events.begin(), events.end(), std::back_inserter(page.events));
    page.next = cursor.position().id();
    done(std::move(page));
  }
};

}  // namespace

Result<EventPage> read_events(const RawQueue& queue, const EventPlace& from, std::size_t entries) {
  const auto& core = queue.core();
  if (core->name_error()) return *core->name_error();
  if (entries < 1 || entries > kMostOfPage)
    return bad_option("entries", std::to_string(entries), "1 to 1,000");
  auto cursor = EventCursor::at(from);
  if (!cursor) return cursor.error();
  return core->client()->wait_for<EventPage>(
      [core, cursor = *std::move(cursor), entries](Function<void(Result<EventPage>)> done) mutable {
        std::make_shared<PageReader>(core, std::move(cursor), entries, std::move(done))->look();
      });
}

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
#include "events/end_search.h"

#include <cstdint>

#include "echomq/id.h"
#include "events/entry.h"
#include "events/stream_look.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// As many in all as a stream has by default, as echomq/queue.h says.
constexpr std::size_t kSearchEntries = 250;
constexpr std::size_t kSearchPages = 40;
// Ids and entries are dated by the clocks of several processes, and a server's may be set back.
constexpr std::int64_t kClocksDiffer = 3'600'000;

// Before that nothing was told of the job; 0: its id does not say.
std::int64_t first_told_ms(const std::string& id) {
  if (!is_minted_id(id)) return 0;
  return decode_id(id)->unix_ms - kClocksDiffer;
}

// What is told of a job that has ended, too, and leaves its end what it was.
bool may_follow_an_end(EventType type) {
  return type == EventType::removed || type == EventType::deduplicated ||
         type == EventType::orphaned;
}

// What the entry says last of the job's run: completed, failed, or nothing of the kind.
std::optional<EventType> last_of(const StreamEntry& entry, const std::string& id) {
  for (auto event = entry.events.rbegin(); event != entry.events.rend(); ++event)
    if (event->job == id && !may_follow_an_end(event->type)) return event->type;
  return std::nullopt;
}

bool told_before(const StreamEntry& entry, std::int64_t ms) {
  return !entry.events.empty() && entry.events.back().at_ms < ms;
}

}  // namespace

void EndSearch::read(const std::string& newest) {
  auto bytes = wire::command(
      {"XREVRANGE", queue_->keys().events, newest, "-", "COUNT", std::to_string(kSearchEntries)});
  queue_->client()->command(
      std::move(bytes),
      [self = shared_from_this()](Result<wire::Reply> reply) { self->answered(std::move(reply)); });
}

void EndSearch::answered(Result<wire::Reply> reply) {
  if (!reply) return done_(reply.error());
  if (reply->is_error())
    return done_(stream_refusal(*reply, queue_->name(), queue_->keys().events));
  const auto entries = read_range(*reply);
  for (const auto& entry : entries) {
    const auto type = last_of(entry, id_);
    if (!type) continue;
    if (*type == EventType::completed) return done_(std::optional(JobState::completed));
    if (*type == EventType::failed) return done_(std::optional(JobState::failed));
    return done_(std::optional<JobState>());
  }
  const bool is_through = entries.size() < kSearchEntries || ++pages_ == kSearchPages;
  if (is_through || told_before(entries.back(), first_told_ms(id_)))
    return done_(std::optional<JobState>());
  read("(" + entries.back().id);
}

}  // namespace echomq::inline v2

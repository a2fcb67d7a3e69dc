// SPDX-License-Identifier: MIT
#include "events/end_search.h"

#include "events/entry.h"
#include "events/stream_look.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// A thousand entries in all, as echomq/queue.h says.
constexpr std::size_t kSearchEntries = 100;
constexpr std::size_t kSearchPages = 10;

// What the entry says last of the job: completed, failed, or nothing of the kind.
std::optional<EventType> last_of(const StreamEntry& entry, const std::string& id) {
  for (auto event = entry.events.rbegin(); event != entry.events.rend(); ++event)
    if (event->job == id) return event->type;
  return std::nullopt;
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
  if (entries.size() < kSearchEntries || ++pages_ == kSearchPages)
    return done_(std::optional<JobState>());
  read("(" + entries.back().id);
}

}  // namespace echomq::inline v2

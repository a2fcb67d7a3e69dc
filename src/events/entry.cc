// SPDX-License-Identifier: MIT
#include "events/entry.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/number.h"
#include "events/position.h"

namespace echomq::inline v2 {
namespace {

struct TypeEntry {
  EventType type;
  std::string_view word;
};

constexpr std::array<TypeEntry, 22> kTypeEntries{{
    {EventType::added, "added"},
    {EventType::delayed, "delayed"},
    {EventType::promoted, "promoted"},
    {EventType::progress, "progress"},
    {EventType::retried, "retried"},
    {EventType::released, "released"},
    {EventType::recovered, "recovered"},
    {EventType::completed, "completed"},
    {EventType::failed, "failed"},
    {EventType::prioritized, "prioritized"},
    {EventType::removed, "removed"},
    {EventType::paused, "paused"},
    {EventType::resumed, "resumed"},
    {EventType::deduplicated, "deduplicated"},
    {EventType::replaced, "replaced"},
    {EventType::waiting_children, "waiting-children"},
    {EventType::ready, "ready"},
    {EventType::orphaned, "orphaned"},
    {EventType::repaired, "repaired"},
    {EventType::custom, "custom"},
    {EventType::gap, "gap"},
    {EventType::other, "other"},
}};

void add_events(std::string_view word, std::string_view jobs, std::vector<Event>& out) {
  Event event;
  event.type = event_type(word);
  event.name = word;
  for (std::size_t from = 0; from <= jobs.size();) {
    const auto end = std::min(jobs.find(' ', from), jobs.size());
    event.job = jobs.substr(from, end - from);
    out.push_back(event);
    from = end + 1;
  }
}

// `at <ms>`, then in turn the name of an event and its jobs; or `custom <name> payload <bytes>`.
std::vector<Event> expand(const std::vector<wire::Reply>& fields) {
  std::vector<Event> events;
  std::int64_t at_ms = 0;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const auto word = fields[i].str();
    const auto value = fields[i + 1].str();
    if (word == "at") {
      at_ms = to_number<std::int64_t>(value);
    } else if (word == "payload" && !events.empty() && events.back().type == EventType::custom) {
      events.back().payload = value;
    } else if (word == "custom") {
      Event event;
      event.type = EventType::custom;
      event.name = value;
      events.push_back(std::move(event));
    } else {
      add_events(word, value, events);
    }
  }
  for (auto& event : events) event.at_ms = at_ms;
  return events;
}

void set_ids(StreamEntry& entry) {
  for (std::size_t i = 0; i < entry.events.size(); ++i) {
    const bool last = i + 1 == entry.events.size();
    entry.events[i].id =
        (last ? Position{entry.number, 0} : Position{entry.number - 1, i + 1}).id();
  }
}

}  // namespace

std::string_view name(EventType type) noexcept {
  const auto* const found =
      std::find_if(kTypeEntries.begin(), kTypeEntries.end(),
                   [type](const TypeEntry& entry) { return entry.type == type; });
  return found == kTypeEntries.end() ? "other" : found->word;
}

EventType event_type(std::string_view word) noexcept {
  const auto* const found =
      std::find_if(kTypeEntries.begin(), kTypeEntries.end(),
                   [word](const TypeEntry& entry) { return entry.word == word; });
  return found == kTypeEntries.end() ? EventType::other : found->type;
}

std::vector<StreamEntry> read_range(const wire::Reply& reply) {
  std::vector<StreamEntry> entries;
  entries.reserve(reply.items.size());
  for (const auto& item : reply.items) {
    if (item.items.size() != 2) continue;
    StreamEntry entry;
    entry.id = item.items[0].text;
    entry.number = to_number<std::uint64_t>(entry.id);
    entry.events = expand(item.items[1].items);
    set_ids(entry);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// A map of one stream in RESP3, a list of one pair in RESP2.
std::vector<StreamEntry> read_stream(const wire::Reply& reply) {
  const auto* of_stream = &reply;
  if (reply.items.size() == 1) of_stream = reply.items.data();
  if (of_stream->items.size() != 2) return {};
  return read_range(of_stream->items[1]);
}

}  // namespace echomq::inline v2

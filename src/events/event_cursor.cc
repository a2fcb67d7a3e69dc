// SPDX-License-Identifier: MIT
#include "events/event_cursor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace echomq::inline v2 {

Result<EventCursor> EventCursor::at(const EventPlace& place) {
  EventCursor cursor;
  cursor.from_now_ = place.kind() == EventPlace::Kind::now;
  cursor.from_oldest_ = place.kind() == EventPlace::Kind::beginning;
  if (place.kind() != EventPlace::Kind::after) return cursor;
  const auto position = Position::parse(place.id());
  if (!position)
    return Error{ErrorCode::invalid_argument,
                 "from is " + quoted(place.id()) + "; expected the id of an event, as \"12-0\"",
                 {{"option", "from"}, {"value", place.id()}, {"expected", "the id of an event"}}};
  cursor.move_to(*position);
  return cursor;
}

std::vector<Event> EventCursor::counted(std::uint64_t last) {
  if (std::exchange(from_now_, false)) {
    move_to({last, 0});
    return {};
  }
  if (position_.entry + (position_.skip > 0 ? 1 : 0) <= last) return {};
  move_to({});
  from_oldest_ = true;
  return {gap(0)};
}

std::vector<Event> EventCursor::read(std::vector<StreamEntry> entries) {
  std::vector<Event> events;
  for (auto& entry : entries) {
    read_from_ = std::move(entry.id);
    const bool first = std::exchange(from_oldest_, false);
    if (entry.number <= position_.entry) continue;  // not of this wire: its numbers are dense
    const auto missed = entry.number - position_.entry - 1;
    if (missed > 0) position_ = {entry.number - 1, 0};
    if (missed > 0 && !first) events.push_back(gap(missed));
    const auto from = std::min<std::size_t>(position_.skip, entry.events.size());
    position_ = {entry.number, 0};
    std::move(entry.events.begin() + static_cast<std::ptrdiff_t>(from), entry.events.end(),
              std::back_inserter(events));
  }
  return events;
}

std::vector<Event> EventCursor::read_nothing(std::uint64_t last) {
  const bool from_oldest = std::exchange(from_oldest_, false);
  if (position_.entry >= last) return {};
  const auto missed = last - position_.entry;
  move_to({last, 0});
  if (from_oldest) return {};
  return {gap(missed)};
}

void EventCursor::move_to(Position position) {
  position_ = position;
  read_from_ = std::to_string(position.entry) + "-0";
}

Event EventCursor::gap(std::uint64_t missed) const {
  Event event;
  event.id = Position{position_.entry, 0}.id();
  event.type = EventType::gap;
  event.name = name(EventType::gap);
  event.missed = missed;
  return event;
}

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// EventCursor: a listener's way through the stream of events: where it is, what it has missed, and
// what is new to it. Pure: answers of the server in, events out.
//
// Entries are numbered densely, so a number that is left out was trimmed (or never written): a gap.
// The stream's own counter tells when the numbering began anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echomq/events.h"
#include "echomq/result.h"
#include "events/entry.h"
#include "events/position.h"

namespace echomq::inline v2 {

class EventCursor {
 public:
  // Error: invalid_argument, an id that cannot be read.
  static Result<EventCursor> at(const EventPlace& place);

  // What the queue's counter of entries says now: the number of the last one written, 0 for none.
  // Fixes the place of a cursor that begins `now`. Answers a gap when the numbering began anew.
  std::vector<Event> counted(std::uint64_t last);
  // The entries that followed read_from().
  std::vector<Event> read(std::vector<StreamEntry> entries);
  // Nothing followed read_from(), though `last` had been counted before: what there was is gone.
  std::vector<Event> read_nothing(std::uint64_t last);

  // The id of the last entry that was read, for XREAD.
  [[nodiscard]] const std::string& read_from() const { return read_from_; }
  [[nodiscard]] const Position& position() const { return position_; }
  // There may be entries that were not read when the counter stood so.
  [[nodiscard]] bool behind(std::uint64_t last) const {
    return from_oldest_ || position_.entry < last;
  }

 private:
  void move_to(Position position);
  [[nodiscard]] Event gap(std::uint64_t missed) const;

  Position position_;
  std::string read_from_ = "0-0";
  bool from_now_ = false;     // the place is not known yet
  bool from_oldest_ = false;  // the first entry is the first, whatever its number
};

}  // namespace echomq::inline v2

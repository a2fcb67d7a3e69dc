// SPDX-License-Identifier: MIT
// An entry of the stream of events, read: one call of a script told of many jobs
// (protocol.md 5.10), and a listener gets one event for each. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/events.h"
#include "wire/resp.h"

namespace echomq::inline v2 {

// The name of a kind of event on the wire, and back: EventType::other for a word that is no such
// name.
EventType event_type(std::string_view word) noexcept;

struct StreamEntry {
  std::string id{};             // as the server has it
  std::uint64_t number = 0;     // the part before the "-"
  std::vector<Event> events{};  // in order, their ids set; empty when it tells nothing
};

// The entries of one answer of XREVRANGE; what has not the form of an entry is left out.
std::vector<StreamEntry> read_range(const wire::Reply& reply);
// The same of an answer of XREAD about one stream. Nothing: no entries.
std::vector<StreamEntry> read_stream(const wire::Reply& reply);

}  // namespace echomq::inline v2

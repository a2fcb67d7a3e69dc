// SPDX-License-Identifier: MIT
// PageCursor: where a page ended. Opaque to users, and bound to the queue, state and order that it
// was made for:
//
//   1:<queue>:<state>:a|d:<place>:<id>
//   1:<queue>:waiting:a|d:<place>:<id>/<mark>/<distance>,...
//
// with the entry's score as the place in a sorted set, and "w" or "c" and its index in the lists
// `wait` and `crashed`, where several jobs say where it was (queue/line_place.h). No part holds a
// colon. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "echomq/page.h"
#include "echomq/result.h"
#include "queue/line_place.h"

namespace echomq::inline v2 {

struct PageCursor {
  std::string place;
  std::vector<Passed> passed;  // of a sorted set one, without a mark

  friend bool operator==(const PageCursor&, const PageCursor&) = default;
};

std::string encode_cursor(std::string_view queue, JobState state, PageOrder order,
                          const PageCursor& cursor);

// Errors: invalid_argument with the cursor as "value", when it is not one of that queue, state and
// order.
Result<PageCursor> decode_cursor(std::string_view queue, JobState state, PageOrder order,
                                 std::string_view text);

// Of pages that the server's own cursors make: the one to begin with where none is given.
// Error: invalid_argument, when it can be none of the server's.
Result<std::string> scan_cursor(const std::string& given);

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// The same answer in its forms: RESP3 has types that RESP2 does not, and a script's numbers may be
// integers or digits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "wire/resp.h"

namespace echomq::inline v2::wire {

// An integer, a sorted set's score (a double in RESP3), or digits in a string.
inline std::int64_t number_of(const Reply& reply) {
  if (reply.kind == Reply::Kind::integer) return reply.integer;
  if (reply.kind == Reply::Kind::number) return saturating_int64(reply.number);
  return saturating_int64(to_number<double>(reply.text));
}

// The status of the i-th item of a batch: one word stands for all items. `otherwise`: none was
// told.
inline const std::string& status_of(const Reply& statuses, std::size_t i,
                                    const std::string& otherwise) {
  if (statuses.kind != Reply::Kind::array) return statuses.text.empty() ? otherwise : statuses.text;
  return i < statuses.items.size() ? statuses.items[i].text : otherwise;
}

// Ids that a script joined by blanks, which no id has: one string costs the server less than a
// list.
inline std::vector<std::string> ids_of(const Reply& reply) {
  std::vector<std::string> ids;
  const std::string_view text = reply.text;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find(' ', from), text.size());
    ids.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return ids;
}

// A member of a sorted set, whose scores are whole numbers here.
struct Scored {
  std::string member;
  std::int64_t score = 0;
};

// What WITHSCORES asks for: a list of pairs in RESP3, member and score in turn in RESP2.
inline std::vector<Scored> scored(const Reply& reply) {
  std::vector<Scored> all;
  const auto& items = reply.items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].items.size() == 2)
      all.push_back({items[i].items[0].text, number_of(items[i].items[1])});
    else if (i + 1 < items.size() && items[i].items.empty()) {
      all.push_back({items[i].text, number_of(items[i + 1])});
      ++i;
    }
  }
  return all;
}

}  // namespace echomq::inline v2::wire

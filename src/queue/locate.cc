// SPDX-License-Identifier: MIT
#include "queue/locate.h"

#include <unordered_set>
#include <utility>

#include "queue/ask.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

constexpr std::int64_t kChunk = 4'096;  // entries of one read
// Entries go forward while others are claimed: so many are read twice.
constexpr std::int64_t kOverlap = 512;

}  // namespace

Result<std::unordered_map<std::string, std::int64_t>> locate(QueueCore& queue,
                                                             const std::vector<std::string>& ids) {
  std::unordered_set<std::string> missing(ids.begin(), ids.end());
  std::unordered_map<std::string, std::int64_t> found;
  for (const auto* line : {&queue.keys().wait, &queue.keys().crashed})
    for (std::int64_t from = 0; !missing.empty(); from += kChunk - kOverlap) {
      auto bytes =
          wire::command({"LRANGE", *line, std::to_string(from), std::to_string(from + kChunk - 1)});
      const auto reply = ask_plainly(queue, std::move(bytes));
      if (!reply) return reply.error();
      const auto& entries = reply->items;
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (missing.erase(entries[i].text) > 0)
          found.emplace(entries[i].text, from + static_cast<std::int64_t>(i));
      if (static_cast<std::int64_t>(entries.size()) < kChunk) break;
    }
  return found;
}

}  // namespace echomq::inline v2

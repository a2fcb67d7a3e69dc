// SPDX-License-Identifier: MIT
#include "worker/reconciler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace echomq {
namespace {

constexpr std::size_t kSize = 4;

// By (score, member), as the server keeps them.
using Active = std::map<std::pair<std::int64_t, std::string>, bool>;

// What ZRANGE ... BYSCORE LIMIT answers.
std::vector<wire::Scored> page_of(const Active& active, std::int64_t from) {
  std::vector<wire::Scored> page;
  for (auto it = active.lower_bound({from, ""}); it != active.end() && page.size() < kSize; ++it)
    page.push_back({it->first.second, it->first.first});
  return page;
}

// Reads all pages; `between` runs after each of them.
template <class Between>
std::map<std::string, int> read(Active& active, Between between) {
  std::map<std::string, int> seen;
  for (std::optional<std::int64_t> from = 0; from; between()) {
    auto page = page_of(active, *from);
    from = next_page(page, kSize);
    for (const auto& entry : page) ++seen[entry.member];
  }
  return seen;
}

Active three_claims() {
  Active active;
  for (const std::int64_t score : {10, 20, 30})
    for (const auto* const job : {"a", "b", "c"})
      active[{score, job + std::to_string(score)}] = true;
  return active;
}

TEST(NextPage, ShowsEachEntryOnce) {
  auto active = three_claims();
  const auto seen = read(active, [] {});
  EXPECT_EQ(seen.size(), 9U);
  for (const auto& [member, times] : seen) EXPECT_EQ(times, 1) << member;
}

TEST(NextPage, SkipsNoneWhenEarlierOnesLeaveMeanwhile) {
  auto active = three_claims();
  const auto seen = read(active, [&] {
    if (!active.empty() && active.begin()->first.first == 10) active.erase(active.begin());
  });
  for (const auto* const member : {"a20", "b20", "c20", "a30", "b30", "c30"})
    EXPECT_EQ(seen.count(member), 1U) << member << " was skipped";
}

TEST(NextPage, GoesOnWhereAllOfAPageShareOneScore) {
  Active active;
  for (const auto* const job : {"a", "b", "c", "d"}) active[{10, job}] = true;
  active[{20, "e"}] = true;
  EXPECT_EQ(read(active, [] {}).size(), 5U);
}

TEST(NextPage, EndsWithAPageThatIsNotFull) {
  std::vector<wire::Scored> page{{"a", 10}, {"b", 20}};
  EXPECT_EQ(next_page(page, kSize), std::nullopt);
  EXPECT_EQ(page.size(), 2U);
  page.clear();
  EXPECT_EQ(next_page(page, kSize), std::nullopt);
}

}  // namespace
}  // namespace echomq

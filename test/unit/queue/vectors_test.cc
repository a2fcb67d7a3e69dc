// SPDX-License-Identifier: MIT
// What statuses of scripts are to callers of a queue: test/vectors/refusals.json.
#include <gtest/gtest.h>

#include <string>

#include "queue/statuses.h"
#include "support/vectors.h"

namespace echomq {
namespace {

template <typename T>
nlohmann::json code_of(const Result<T>& result) {
  return result ? nlohmann::json() : nlohmann::json(name(result.error().code));
}

TEST(QueueVectors, Statuses) {
  const auto all = test::vectors("refusals");
  const auto& statuses = all.at("statuses");
  const std::string queue = all.at("queue");
  const std::string id = statuses.at("id");
  for (const auto& one : statuses.at("adds")) {
    const auto result =
        add_result(one.at("status").get<std::string>(), {queue, id, statuses.at("owner"), 3});
    EXPECT_EQ(code_of(result), one.at("code")) << one;
    if (result) {
      EXPECT_EQ(result->id, one.at("added")) << one;
      EXPECT_EQ(result->deduplicated, one.at("deduplicated").get<bool>()) << one;
    } else {
      const auto* const value = result.error().field("value");
      EXPECT_EQ(value != nullptr ? nlohmann::json(*value) : nlohmann::json(), one.at("value"));
      EXPECT_EQ(*result.error().field("queue"), queue) << one;
    }
  }
  for (const auto& one : statuses.at("removes"))
    EXPECT_EQ(code_of(move_result(one.at("status").get<std::string>(), queue, id, "is unfit")),
              one.at("code"))
        << one;
  for (const auto& one : statuses.at("writes"))
    EXPECT_EQ(code_of(write_result(one.at("status").get<std::string>(), queue, id, "")),
              one.at("code"))
        << one;
}

}  // namespace
}  // namespace echomq

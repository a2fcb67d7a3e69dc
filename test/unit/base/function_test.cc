// SPDX-License-Identifier: MIT
#include "base/function.h"

#include <gtest/gtest.h>

#include <memory>

namespace echomq {
namespace {

TEST(Function, OwnsWhatCannotBeCopied) {
  auto owned = std::make_unique<int>(5);
  Function<int(int)> add = [owned = std::move(owned)](int more) { return *owned + more; };
  EXPECT_EQ(add(2), 7);
  auto moved = std::move(add);
  EXPECT_TRUE(moved);
  EXPECT_EQ(moved(3), 8);
}

TEST(Function, EmptyAndReset) {
  Task task;
  EXPECT_FALSE(task);
  auto alive = std::make_shared<int>(1);
  task = [alive] {};
  EXPECT_EQ(alive.use_count(), 2);
  task = nullptr;
  EXPECT_EQ(alive.use_count(), 1) << "what was captured is gone with the function";
}

}  // namespace
}  // namespace echomq

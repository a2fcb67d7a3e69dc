// SPDX-License-Identifier: MIT
#include "protocol/refusal.h"

#include <gtest/gtest.h>

#include "echomq/fence.h"

namespace echomq {
namespace {

TEST(Refusal, AFenceErrorHasItsFourParts) {
  const auto error = protocol::refusal("EMQFENCE expected=echomq:2.0.0 found=bullmq:5.65.1", "mail",
                                       "emq:{mail}:meta");
  EXPECT_EQ(error.code, ErrorCode::fence);
  const auto fence = fence_error(error);
  ASSERT_TRUE(fence);
  EXPECT_EQ(fence->queue, "mail");
  EXPECT_EQ(fence->found, "bullmq:5.65.1");
  EXPECT_EQ(fence->expected, "echomq:2.0.0");
  EXPECT_EQ(fence->probe, "emq:{mail}:meta");
}

TEST(Refusal, AForeignVersionMayHoldAnyText) {
  const auto error =
      protocol::refusal("EMQFENCE expected=echomq:2.0.0 found=a found=b", "mail", "k");
  EXPECT_EQ(fence_error(error)->found, "a found=b");
}

TEST(Refusal, ServerWordsBecomeCodes) {
  const auto code = [](const char* text) { return protocol::refusal(text, "q", "k").code; };
  EXPECT_EQ(code("EMQFULL the server is at its maxmemory limit"), ErrorCode::full);
  EXPECT_EQ(code("OOM command not allowed"), ErrorCode::full);
  EXPECT_EQ(code("WRONGTYPE Operation against a key"), ErrorCode::wrong_type);
  EXPECT_EQ(code("MOVED 9051 127.0.0.1:7001"), ErrorCode::unsupported);
  EXPECT_EQ(code("ASK 9051 127.0.0.1:7001"), ErrorCode::unsupported);
  EXPECT_EQ(code("NOPERM this user"), ErrorCode::denied);
  EXPECT_EQ(code("LOADING Redis is loading"), ErrorCode::loading);
  EXPECT_EQ(code("EMQARG count"), ErrorCode::protocol);
  EXPECT_EQ(code("BUSY Redis is busy"), ErrorCode::server_error);
}

TEST(Refusal, OtherErrorsHaveNoFenceParts) {
  EXPECT_FALSE(fence_error(protocol::refusal("BUSY", "q", "k")));
}

}  // namespace
}  // namespace echomq

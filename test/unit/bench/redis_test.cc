// SPDX-License-Identifier: MIT
// Which servers the bench may erase without being asked twice: those of this machine.
#include "bench/redis.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/payload.h"

namespace bench {
namespace {

TEST(BenchAddress, Forms) {
  EXPECT_EQ(parse_address("unix:///run/emq.sock")->path, "/run/emq.sock");
  const auto plain = parse_address("redis://localhost");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host, "localhost");
  EXPECT_EQ(plain->port, "6379");
  EXPECT_EQ(parse_address("valkey://10.0.0.1:7000")->port, "7000");
  const auto six = parse_address("redis://[::1]:7000");
  ASSERT_TRUE(six.ok());
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, "7000");
  for (const auto* url : {"", "localhost", "http://localhost", "unix://relative", "unix:///a?db=1",
                          "redis://", "redis://a:b@localhost", "redis://localhost/1",
                          "redis://localhost:0", "redis://localhost:65536", "redis://localhost:6x",
                          "redis://[::1", "rediss://localhost", "embedded:/tmp/x"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_EQ(address.error().code, echomq::ErrorCode::invalid_url);
  }
}

TEST(BenchAddress, Loopback) {
  for (const auto* url : {"unix:///s", "redis://localhost", "redis://127.0.0.1",
                          "redis://127.8.9.1:7000", "redis://[::1]:7000"})
    EXPECT_TRUE(is_loopback(*parse_address(url))) << url;
  for (const auto* url : {"redis://10.0.0.1", "redis://example.org",
                          "redis://127.0.0.1.example.org", "redis://127.0.0", "redis://127.0.0.256",
                          "redis://1270.0.0.1", "redis://[::2]", "redis://127.0.0.1x"})
    EXPECT_FALSE(is_loopback(*parse_address(url))) << url;
}

TEST(BenchPayload, CarriesItsStamp) {
  const auto data = payload(1'234'567'890);
  EXPECT_EQ(data.size(), kPayloadBytes);
  EXPECT_EQ(stamp_of(data), 1'234'567'890);
  EXPECT_EQ(payload(0).size(), kPayloadBytes);
  EXPECT_EQ(stamp_of(payload(0)), 0);
  EXPECT_EQ(stamp_of("short"), 0);
}

}  // namespace
}  // namespace bench

// SPDX-License-Identifier: MIT
// Commands as bytes, spelled out.
#include "wire/command.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace echomq::wire {
namespace {

TEST(Command, IsAnArrayOfBulkStrings) {
  std::string out = "before";
  append_command(out, {"SET", "key", ""});
  EXPECT_EQ(out, "before*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n");
}

TEST(Command, WordsMayHoldAnyBytes) {
  std::string out;
  append_bulk(out, std::string_view("\r\n\0*", 4));
  EXPECT_EQ(out, std::string("$4\r\n\r\n\0*\r\n", 10));
}

TEST(Command, NumbersAreWrittenInDecimal) {
  const auto written = [](std::int64_t number) {
    std::string out;
    append_bulk(out, number);
    return out;
  };
  EXPECT_EQ(written(0), "$1\r\n0\r\n");
  EXPECT_EQ(written(-42), "$3\r\n-42\r\n");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::max()), "$19\r\n9223372036854775807\r\n");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "$20\r\n-9223372036854775808\r\n");
}

TEST(Command, TheLargestHeaderFits) {
  std::string out;
  append_header(out, std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(out, "*18446744073709551615\r\n");
}

}  // namespace
}  // namespace echomq::wire

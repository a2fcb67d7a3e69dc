// SPDX-License-Identifier: MIT
// Ids at the edge: decimal text and its branded form, and what is refused in either.
#include "echomq/id.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <limits>
#include <string>

#include "protocol/snowflake.h"

namespace echomq {
namespace {

constexpr std::uint64_t kGreatestId = std::numeric_limits<std::int64_t>::max();

std::uint64_t any_id() {
  // Ordinary generators favour small numbers; ids fill all 63 bits.
  const auto bits = *rc::gen::inRange(0, 64);
  const auto number = *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  return bits == 0 ? 0 : (number * 0x9E3779B97F4A7C15U) >> (64 - bits) & kGreatestId;
}

TEST(Id, TheKnownPairConvertsBothWays) {
  EXPECT_EQ(brand_id("274557032793636864").value(), "BAT0KHTOWnGLuC");
  EXPECT_EQ(unbrand_id("BAT0KHTOWnGLuC").value(), "274557032793636864");
}

TEST(Id, TheKnownPairDecodesFromEitherForm) {
  const IdParts parts{65'459'497'641, 1'769'526'697'641, 0, 0};
  EXPECT_EQ(decode_id("274557032793636864").value(), parts);
  EXPECT_EQ(decode_id("BAT0KHTOWnGLuC").value(), parts);
}

TEST(Id, Invariant5BrandingAndBackIsTheIdentityForEvery63BitNumber) {
  EXPECT_TRUE(rc::check([] {
    const auto decimal = std::to_string(any_id());
    const auto branded = brand_id(decimal).value();
    RC_ASSERT(branded.size() == 14U);
    RC_ASSERT(is_branded_id(branded));
    RC_ASSERT(!is_minted_id(branded));
    RC_ASSERT(unbrand_id(branded).value() == decimal);
  }));
}

TEST(Id, BothEndsOfTheRangeBrandAndBack) {
  EXPECT_EQ(brand_id("0").value(), "BAT00000000000");
  EXPECT_EQ(unbrand_id("BAT00000000000").value(), "0");
  EXPECT_EQ(brand_id("9223372036854775807").value(), "BATAzL8n0Y58m7");
  EXPECT_EQ(unbrand_id("BATAzL8n0Y58m7").value(), "9223372036854775807");
}

TEST(Id, BrandedFormsSortAsTheNumbersDo) {
  EXPECT_TRUE(rc::check([] {
    const auto one = any_id();
    const auto other = any_id();
    const auto one_branded = brand_id(std::to_string(one)).value();
    const auto other_branded = brand_id(std::to_string(other)).value();
    RC_ASSERT((one < other) == (one_branded < other_branded));
  }));
}

TEST(Id, PartsPutTogetherMakeTheNumberAgain) {
  EXPECT_TRUE(rc::check([] {
    const auto number = any_id();
    const auto parts = decode_id(std::to_string(number)).value();
    RC_ASSERT(parts.node <= kMaxNode);
    RC_ASSERT(parts.seq <= kMaxSeq);
    RC_ASSERT(parts.unix_ms - kIdEpochMs == static_cast<std::int64_t>(parts.ms_since_2024));
    RC_ASSERT((parts.ms_since_2024 << 22 | std::uint64_t{parts.node} << 12 | parts.seq) == number);
  }));
}

TEST(Id, ABrandOfAnotherNamespaceIsRefusedByName) {
  for (const char* const foreign : {"TSK0KHTOWnGLuC", "USR0KHTOWnGLuC", "TAB0KHTOWnGLuC"}) {
    const std::string brand(foreign, 3);
    for (const auto& error : {unbrand_id(foreign).error(), decode_id(foreign).error()}) {
      EXPECT_EQ(error.code, ErrorCode::invalid_name);
      EXPECT_NE(error.detail.find(brand), std::string::npos) << error.detail;
      EXPECT_NE(error.detail.find("BAT"), std::string::npos) << error.detail;
      ASSERT_NE(error.field("brand"), nullptr);
      EXPECT_EQ(*error.field("brand"), brand);
      EXPECT_EQ(*error.field("expected"), "BAT");
      EXPECT_EQ(*error.field("value"), foreign);
    }
  }
}

TEST(Id, ABrandedNumberOver63BitsIsRefused) {
  for (const char* const over : {"BATAzL8n0Y58m8", "BATB0000000000", "BATzzzzzzzzzzz"}) {
    ASSERT_FALSE(unbrand_id(over).ok()) << over;
    EXPECT_NE(unbrand_id(over).error().detail.find("2^63"), std::string::npos);
    EXPECT_FALSE(decode_id(over).ok());
    EXPECT_TRUE(is_branded_id(over)) << "it looks branded all the same";
  }
}

TEST(Id, WhatIsNotBrandedIsNotUnbranded) {
  for (const char* const text :
       {"", "BAT", "BAT0KHTOWnGLu", "BAT0KHTOWnGLuCC", "bat0KHTOWnGLuC", "BAT0KHTOWnGLu-",
        " BAT0KHTOWnGLuC", "274557032793636864", "0KHTOWnGLuC"}) {
    ASSERT_FALSE(unbrand_id(text).ok()) << text;
    EXPECT_EQ(unbrand_id(text).error().code, ErrorCode::invalid_name);
    EXPECT_FALSE(is_branded_id(text)) << text;
  }
}

TEST(Id, OnlyCanonicalDecimalsBelowTwoToThe63AreMinted) {
  for (const char* const id : {"0", "1", "42", "274557032793636864", "9223372036854775807"})
    EXPECT_TRUE(is_minted_id(id)) << id;
  for (const char* const text :
       {"", "00", "007", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "9223372036854775808",
        "18446744073709551616", "99999999999999999999999999"}) {
    EXPECT_FALSE(is_minted_id(text)) << text;
    EXPECT_FALSE(brand_id(text).ok()) << text;
    EXPECT_FALSE(decode_id(text).ok()) << text;
  }
}

TEST(Id, FourteenDigitsAreDecimalAndNeverTakenForBranded) {
  EXPECT_EQ(decode_id("12345678901234").value().seq, 12345678901234U & kMaxSeq);
  EXPECT_FALSE(decode_id("02345678901234").ok());
}

TEST(Id, AnErrorQuotesTheValueSafelyAndKeepsItWhole) {
  const std::string value = "bad\n\xff" + std::string(300, 'x');
  const auto error = brand_id(value).error();
  EXPECT_EQ(*error.field("value"), value);
  EXPECT_NE(error.detail.find("bad\\x0a\\xff"), std::string::npos) << error.detail;
  EXPECT_NE(error.detail.find("(305 bytes)"), std::string::npos) << error.detail;
  EXPECT_LT(error.detail.size(), 300U);
}

}  // namespace
}  // namespace echomq

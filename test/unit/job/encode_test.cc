// SPDX-License-Identifier: MIT
#include "job/encode.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

namespace echomq {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kLimit = 1'000;

// The option that is refused, or "ok".
std::string refused(const JobOptions& options, std::size_t data_size = 0) {
  const auto job = job::encode_job(std::string(data_size, 'x'), options, kLimit);
  if (job) return "ok";
  const auto* option = job.error().field("option");
  return option ? *option : std::string(name(job.error().code));
}

TEST(EncodeJob, RefusesEachBadOptionByName) {
  EXPECT_EQ(refused({}), "ok");
  EXPECT_EQ(refused({.attempts = 0}), "attempts");
  EXPECT_EQ(refused({.attempts = kMaxAttempts + 1}), "attempts");
  EXPECT_EQ(refused({.delay = milliseconds(-1)}), "delay");
  EXPECT_EQ(refused({.delay = kMaxDelay + milliseconds(1)}), "delay");
  EXPECT_EQ(refused({.expires_in = milliseconds(1)}), "ok");
  EXPECT_EQ(refused({.expires_in = kMaxDelay}), "ok");
  EXPECT_EQ(refused({.expires_in = milliseconds(0)}), "expires_in");
  EXPECT_EQ(refused({.expires_in = kMaxDelay + milliseconds(1)}), "expires_in");
  EXPECT_EQ(refused({.delay = milliseconds(5), .expires_in = milliseconds(5)}), "expires_in");
  EXPECT_EQ(refused({.priority = kMaxPriority}), "ok");
  EXPECT_EQ(refused({.priority = kMaxPriority + 1}), "priority");
  EXPECT_EQ(refused({.priority = 1, .lifo = true}), "lifo");
  EXPECT_EQ(refused({.backoff = Backoff::fixed(milliseconds(-1))}), "backoff.delay");
  EXPECT_EQ(refused({.backoff = Backoff::fixed(milliseconds(1), 1.01)}), "backoff.jitter");
  EXPECT_EQ(refused({.backoff = Backoff::fixed(milliseconds(1),
                                               std::numeric_limits<double>::quiet_NaN())}),
            "backoff.jitter");
  EXPECT_EQ(refused({.backoff = {Backoff::Kind::none, milliseconds(5), 0}}), "backoff.delay");
  EXPECT_EQ(refused({.backoff = {Backoff::Kind::none, milliseconds(0), 0.5}}), "backoff.jitter");
  EXPECT_EQ(refused({.name = std::string(256, 'n')}), "name");
  EXPECT_EQ(refused({.name = "\xFF"}), "name");
  EXPECT_EQ(refused({.keep_completed = Keep{1, seconds(-1)}}), "keep_completed.age");
  EXPECT_EQ(refused({.keep_failed = Keep{1, seconds(-1)}}), "keep_failed.age");
  EXPECT_EQ(refused({.keep_completed = Keep{1, kMaxKeepAge}}), "ok");
  EXPECT_EQ(refused({.keep_completed = Keep{1, kMaxKeepAge + seconds(1)}}), "keep_completed.age");
  EXPECT_EQ(refused({.keep_failed = Keep{1, seconds::max()}}), "keep_failed.age");
  EXPECT_EQ(refused({.id = "stalled"}), "invalid_name");
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(refused({.traceparent = trace, .tracestate = "vendor=1"}), "ok");
  EXPECT_EQ(refused({.traceparent = trace, .tracestate = std::string(513, 'x')}), "tracestate");
  EXPECT_EQ(refused({.traceparent = trace, .tracestate = "caf\xc3\xa9"}), "tracestate");
  EXPECT_EQ(refused({.tracestate = "vendor=1"}), "tracestate");
  for (const std::string bad : {"00", "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                                "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                "00-4bf92f3577b34da6a3ce929d0e0e4736+00f067aa0ba902b7-01",
                                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g"})
    EXPECT_EQ(refused({.traceparent = bad}), "traceparent") << bad;
  const auto durability = [](const Durability& wanted) { return refused({.durability = wanted}); };
  EXPECT_EQ(durability(Durability::replicated(0)), "durability.replicas");
  EXPECT_EQ(durability(Durability::replicated(1'000)), "ok");
  EXPECT_EQ(durability(Durability::replicated(1'001)), "durability.replicas");
  EXPECT_EQ(durability({Durability::Kind::fsynced, 1}), "durability.replicas");
  EXPECT_EQ(durability(Durability::fsynced(milliseconds(0))), "durability.timeout");
  EXPECT_EQ(durability(Durability::fsynced(minutes(10))), "ok");
  EXPECT_EQ(durability(Durability::fsynced(minutes(10) + milliseconds(1))), "durability.timeout");
}

TEST(EncodeJob, RefusesEachBadRuleOfDeduplicationByName) {
  const auto refused_rule = [](Deduplication rule) {
    return refused({.deduplication = std::move(rule)});
  };
  const milliseconds one(1);
  EXPECT_EQ(refused_rule(Deduplication::simple("D")), "ok");
  EXPECT_EQ(refused_rule(Deduplication::debounce(std::string(255, 'd'), kMaxDelay)), "ok");
  EXPECT_EQ(refused_rule(Deduplication::keep_last_if_active("\xc3\xa9")), "ok");
  EXPECT_EQ(refused_rule({.id = "D", .replace = true}), "ok");
  EXPECT_EQ(refused_rule(Deduplication::simple("")), "deduplication.id");
  EXPECT_EQ(refused_rule(Deduplication::simple(std::string(256, 'd'))), "deduplication.id");
  EXPECT_EQ(refused_rule(Deduplication::simple("\xFF")), "deduplication.id");
  EXPECT_EQ(refused_rule(Deduplication::throttle("D", milliseconds(0))), "deduplication.ttl");
  EXPECT_EQ(refused_rule(Deduplication::throttle("D", kMaxDelay + one)), "deduplication.ttl");
  EXPECT_EQ(refused_rule({.id = "D", .extend = true}), "deduplication.extend");
  EXPECT_EQ(refused_rule({.id = "D", .replace = true, .keep_last = true}),
            "deduplication.keep_last");
  EXPECT_EQ(refused_rule({.id = "D", .ttl = one, .keep_last = true}), "deduplication.keep_last");
}

TEST(DecodeOpts, ARuleOfDeduplicationComesBackOrIsNone) {
  const Deduplication rule{
      .id = "a \"b\" \\", .ttl = milliseconds(7), .extend = true, .replace = true};
  const auto job = job::encode_job("x", {.deduplication = rule}, kLimit).value();
  ASSERT_TRUE(job.deduplication);
  const auto back = job::decode_opts(job.opts).deduplication;
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id, rule.id);
  EXPECT_EQ(back->ttl, rule.ttl);
  EXPECT_TRUE(back->extend && back->replace && !back->keep_last);
  EXPECT_FALSE(job::decode_opts(R"({"de":{"ttl":5}})").deduplication);
  EXPECT_FALSE(job::decode_opts(R"({"de":{"id":5}})").deduplication);
  EXPECT_FALSE(job::decode_opts(R"({"de":"D"})").deduplication);
  const auto odd = job::decode_opts(R"({"de":{"id":"D","ttl":-4,"replace":1}})").deduplication;
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->ttl);
  EXPECT_FALSE(odd->replace);
}

TEST(EncodeJob, ErrorsNameTheValueAndWhatWasExpected) {
  const auto job = job::encode_job("", {.priority = 3'000'000}, kLimit);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(*job.error().field("value"), "3000000");
  EXPECT_EQ(*job.error().field("expected"), "0 to 2097151");
}

TEST(EncodeJob, RefusesDataOverTheLimit) {
  EXPECT_EQ(refused({}, kLimit), "ok");
  EXPECT_EQ(refused({}, kLimit + 1), "too_large");
}

TEST(EncodeJob, WritesOnlyWhatDiffersFromTheDefaults) {
  EXPECT_EQ(job::encode_job("", {}, kLimit)->opts, "");
  EXPECT_EQ(job::encode_job("",
                            {.attempts = 3,
                             .backoff = Backoff::exponential(milliseconds(50), 0.5),
                             .keep_completed = Keep::none()},
                            kLimit)
                ->opts,
            R"({"attempts":3,"backoff":{"type":"exponential","delay":50,"jitter":0.5},)"
            R"("removeOnComplete":{"count":0,"age":0}})");
}

TEST(EncodeJob, OptionsSurviveTheirJson) {
  EXPECT_TRUE(rc::check([] {
    JobOptions in;
    in.attempts = *rc::gen::inRange(1U, kMaxAttempts + 1);
    const auto delay = milliseconds(*rc::gen::inRange<std::int64_t>(0, kMaxDelay.count() + 1));
    const auto jitter = *rc::gen::inRange(0, 101) / 100.0;
    switch (*rc::gen::inRange(0, 3)) {
      case 1: in.backoff = Backoff::fixed(delay, jitter); break;
      case 2: in.backoff = Backoff::exponential(delay, jitter); break;
      default: break;
    }
    if (*rc::gen::arbitrary<bool>())
      in.keep_completed = Keep{*rc::gen::inRange<std::int64_t>(-1, 1'000'000),
                               seconds(*rc::gen::inRange(0, 99'999))};
    if (*rc::gen::arbitrary<bool>()) {
      in.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      in.tracestate = *rc::gen::container<std::string>(rc::gen::inRange(' ', '~'));
      in.tracestate.resize(std::min<std::size_t>(in.tracestate.size(), 512));
    }
    if (*rc::gen::arbitrary<bool>())
      in.expires_in = milliseconds(*rc::gen::inRange<std::int64_t>(1, kMaxDelay.count() + 1));
    const auto out = job::decode_opts(job::encode_job("", in, kLimit)->opts);
    RC_ASSERT(out.attempts == in.attempts);
    RC_ASSERT(out.backoff.kind == in.backoff.kind);
    RC_ASSERT(out.backoff.delay == in.backoff.delay);
    RC_ASSERT(out.backoff.jitter == in.backoff.jitter);
    RC_ASSERT(out.expires_in == in.expires_in);
    RC_ASSERT(out.traceparent == in.traceparent);
    RC_ASSERT(out.tracestate == in.tracestate);
    RC_ASSERT(out.keep_completed.has_value() == in.keep_completed.has_value());
    if (in.keep_completed) {
      RC_ASSERT(out.keep_completed->count == in.keep_completed->count);
      RC_ASSERT(out.keep_completed->age == in.keep_completed->age);
    }
  }));
}

TEST(DecodeOpts, ReadsWhatV1Wrote) {
  const auto options = job::decode_opts(
      R"({"kl":5,"backoff":{"type":"exponential","delay":10,"jitter":0.5},"attempts":0,)"
      R"("removeOnComplete":true,"removeOnFail":{"count":7},"unknown":{"x":[1]}})");
  EXPECT_EQ(options.attempts, 1U) << "v1 stores 0 where nothing was given";
  EXPECT_EQ(options.backoff.kind, Backoff::Kind::exponential);
  EXPECT_EQ(options.keep_completed->count, 0);
  EXPECT_EQ(options.keep_failed->count, 7);
  EXPECT_EQ(options.keep_failed->age, seconds(0));
}

TEST(DecodeOpts, IsTotal) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto options = job::decode_opts(text);
    RC_ASSERT(options.attempts >= 1U);
  }));
  EXPECT_EQ(job::decode_opts(R"({"attempts":"many","backoff":[]})").attempts, 1U);
  EXPECT_EQ(job::decode_opts(R"({"attempts":-3,"backoff":{"delay":-9}})").backoff.delay.count(), 0);
}

TEST(DecodeOpts, ANumberThatDoesNotFitIsTheNearestThatDoes) {
  for (const auto* attempts : {"1e300", "9223372036854775808", "18446744073709551615"})
    EXPECT_EQ(job::decode_opts(std::string(R"({"attempts":)") + attempts + "}").attempts,
              kMaxAttempts)
        << attempts;
  EXPECT_EQ(job::decode_opts(R"({"attempts":-1e300})").attempts, 1U);
  EXPECT_EQ(job::decode_opts(R"({"attempts":2.9})").attempts, 2U);
  const auto keep = *job::decode_opts(R"({"removeOnFail":-1e300})").keep_failed;
  EXPECT_LT(keep.count, 0) << "no limit stays no limit";
}

TEST(DecodeOpts, ABackoffOfANumberAloneStaysInItsRange) {
  const auto delay = [](const char* json) { return job::decode_opts(json).backoff.delay; };
  EXPECT_EQ(delay(R"({"backoff":250})"), milliseconds(250));
  EXPECT_EQ(delay(R"({"backoff":-250})"), milliseconds(0));
  EXPECT_EQ(delay(R"({"backoff":9223372036854775807})"), kMaxDelay);
}

TEST(DecodeOpts, AnAgeOfRetentionStaysInItsRange) {
  // Its milliseconds are sent to the server, and they must fit.
  const auto age = [](const char* json) { return job::decode_opts(json).keep_failed->age; };
  EXPECT_EQ(age(R"({"removeOnFail":{"age":-1}})"), seconds(0));
  EXPECT_EQ(age(R"({"removeOnFail":{"age":9223372036854775807}})"), kMaxKeepAge);
}

TEST(BackoffDelay, FollowsItsFormula) {
  const auto fixed = Backoff::fixed(milliseconds(100));
  EXPECT_EQ(job::backoff_delay(fixed, 1, 0).count(), 100);
  EXPECT_EQ(job::backoff_delay(fixed, 9, 0).count(), 100);
  const auto grows = Backoff::exponential(milliseconds(100));
  EXPECT_EQ(job::backoff_delay(grows, 1, 0).count(), 100);
  EXPECT_EQ(job::backoff_delay(grows, 2, 0).count(), 200);
  EXPECT_EQ(job::backoff_delay(grows, 5, 0).count(), 1'600);
  EXPECT_EQ(job::backoff_delay(grows, 1'000'000, 0), kMaxDelay) << "capped, not overflown";
  EXPECT_EQ(job::backoff_delay({}, 3, 0).count(), 0);
}

TEST(BackoffDelay, JitterStaysBetweenItsBounds) {
  const auto backoff = Backoff::fixed(milliseconds(1'000), 0.3);
  EXPECT_EQ(job::backoff_delay(backoff, 1, 0.0).count(), 1'000);
  EXPECT_EQ(job::backoff_delay(backoff, 1, 1.0).count(), 700);
}

TEST(Utf8, AcceptsExactlyRfc3629) {
  for (const auto* good :
       {"", "plain", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF"})
    EXPECT_TRUE(job::is_utf8(good)) << good;
  for (const auto* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF5\x80\x80\x80", "\xF4\x90\x80\x80", "\xFF", "a\xE2\x82"})
    EXPECT_FALSE(job::is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace echomq

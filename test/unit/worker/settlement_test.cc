// SPDX-License-Identifier: MIT
#include "worker/settlement.h"

#include <gtest/gtest.h>

#include "worker/running_job.h"

namespace echomq {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<RunningJob> job_with(JobOptions options, unsigned attempts_made = 0) {
  job::LoadedJob loaded;
  loaded.id = "7";
  loaded.options = std::move(options);
  loaded.attempts_made = attempts_made;
  loaded.attempts_started = attempts_made + 2;
  return std::make_shared<RunningJob>(std::move(loaded), "mail", Lease{.nonce = 1}, [] {});
}

Settlement end(const Outcome& outcome, JobOptions options = {}, unsigned attempts_made = 0) {
  return settle(job_with(std::move(options), attempts_made), outcome, WorkerOptions{}, 0.0);
}

TEST(Settlement, ADoneJobCompletesAndCountsItsAttempt) {
  const auto settlement = end(Outcome::done("result"));
  EXPECT_EQ(settlement.kind, Settlement::Kind::complete);
  EXPECT_EQ(settlement.text, "result");
  EXPECT_EQ(settlement.attempts_made, 1U);
  EXPECT_EQ(settlement.attempts_started, 3U);
  EXPECT_EQ(settlement.keep.count, WorkerOptions{}.keep_completed.count);
}

TEST(Settlement, TheJobsOwnRetentionBeatsTheWorkers) {
  EXPECT_EQ(end(Outcome::done(), {.keep_completed = Keep::none()}).keep.count, 0);
  EXPECT_EQ(end(Outcome::fail("x"), {.keep_failed = Keep::all()}).keep.count, -1);
}

TEST(Settlement, AFailedAttemptIsRetriedWhileAttemptsAreLeft) {
  const JobOptions options{.attempts = 3, .backoff = Backoff::exponential(milliseconds(100))};
  const auto second = end(Outcome::fail("no"), options, 1);
  EXPECT_EQ(second.kind, Settlement::Kind::retry);
  EXPECT_EQ(second.delay_ms, 200) << "twice the first delay after the second failure";
  EXPECT_EQ(second.attempts_made, 2U);
  EXPECT_EQ(end(Outcome::fail("no"), options, 2).kind, Settlement::Kind::fail)
      << "the third was the last";
}

TEST(Settlement, ARateLimitedRunIsGivenBackAndHoldsTheQueue) {
  const auto settlement = end(Outcome::rate_limited(milliseconds(1'500)), {.attempts = 1});
  EXPECT_EQ(settlement.kind, Settlement::Kind::release);
  EXPECT_EQ(settlement.hold_ms, 1'500);
  EXPECT_EQ(settlement.attempts_started, 3U);
  EXPECT_EQ(end(Outcome::rate_limited(milliseconds(-1))).hold_ms, 1) << "never a loop";
  EXPECT_EQ(end(Outcome::rate_limited(kMaxLimitTime * 2)).hold_ms, kMaxLimitTime.count());
}

TEST(Settlement, ARunThatWaitsForChildrenSpendsNoAttempt) {
  const auto settlement = end(Outcome::wait_for_children(), {.attempts = 1});
  EXPECT_EQ(settlement.kind, Settlement::Kind::wait);
  EXPECT_EQ(settlement.attempts_started, 3U);
  EXPECT_FALSE(settlement.ends_job());
}

// Their ends are told by another script's means.
TEST(Settlement, JobsWithAParentEndInCallsOfTheirOwn) {
  job::LoadedJob child;
  child.id = "8";
  child.parent_queue = "books";
  child.parent = "7";
  const auto with_parent =
      settle(std::make_shared<RunningJob>(child, "mail", Lease{.nonce = 1}, [] {}), Outcome::done(),
             {}, 0.0);
  EXPECT_TRUE(with_parent.has_parent());
  EXPECT_FALSE(with_parent.travels_with(end(Outcome::done())));
  EXPECT_TRUE(with_parent.travels_with(with_parent));
}

// B44: what spends no attempt would go on for ever.
TEST(Settlement, B44_AJobIsPutOffUntilItsStartsAreSpent) {
  WorkerOptions options;
  for (const auto& outcome :
       {Outcome::rate_limited(milliseconds(50)), Outcome::retry_in(milliseconds(50))}) {
    options.max_starts = 3;  // the job was started twice before
    EXPECT_EQ(settle(job_with({.attempts = 5}), outcome, options, 0.0).kind,
              Settlement::Kind::fail);
    options.max_starts = 4;
    EXPECT_NE(settle(job_with({.attempts = 5}), outcome, options, 0.0).kind,
              Settlement::Kind::fail);
  }
  options.max_starts = 1;
  EXPECT_EQ(settle(job_with({.attempts = 5}), Outcome::fail("no"), options, 0.0).kind,
            Settlement::Kind::retry)
      << "of failures the attempts decide";
}

TEST(Settlement, B48_AJobThatIsTakenAfterItExpiredFailsUnworked) {
  const auto job = job_with({.attempts = 9, .expires_in = milliseconds(50)}, 2);
  EXPECT_EQ(expire(job, WorkerOptions{}, job->job.added_ms + 50), std::nullopt);
  const auto settlement = expire(job, WorkerOptions{}, job->job.added_ms + 51);
  ASSERT_TRUE(settlement);
  EXPECT_EQ(settlement->kind, Settlement::Kind::fail);
  EXPECT_EQ(settlement->text, "expired: taken 51 ms after its add; expires_in is 50");
  EXPECT_EQ(settlement->attempts_made, 2U);
  EXPECT_EQ(settlement->attempts_started, 5U);
  EXPECT_EQ(settlement->keep.count, WorkerOptions{}.keep_failed.count);
  EXPECT_EQ(expire(job_with({}), WorkerOptions{}, 1'000'000), std::nullopt);
}

TEST(Settlement, AJobThatIsPutBackCountsItsStartAndNoAttempt) {
  WorkerOptions options;
  const auto settlement = put_back(job_with({.attempts = 1}), options);
  EXPECT_EQ(settlement.kind, Settlement::Kind::release);
  EXPECT_EQ(settlement.attempts_started, 3U);
  EXPECT_EQ(settlement.hold_ms, 0);
  options.max_starts = 3;
  EXPECT_EQ(put_back(job_with({.attempts = 5}), options).kind, Settlement::Kind::fail)
      << "and may be put back too often";
}

TEST(Settlement, HoldsOfDifferentLengthsTravelApart) {
  const auto limited = end(Outcome::rate_limited(milliseconds(50)));
  EXPECT_TRUE(limited.travels_with(end(Outcome::rate_limited(milliseconds(50)))));
  EXPECT_FALSE(limited.travels_with(end(Outcome::rate_limited(milliseconds(60)))));
  EXPECT_FALSE(limited.travels_with(give_back(job_with({}), /*started=*/false)));
}

TEST(Settlement, UnrecoverableEndsAtOnce) {
  EXPECT_EQ(end(Outcome::unrecoverable("never"), {.attempts = 9}).kind, Settlement::Kind::fail);
}

TEST(Settlement, RetryInCostsNoAttempt) {
  const auto settlement = end(Outcome::retry_in(milliseconds(1'500)), {.attempts = 1});
  EXPECT_EQ(settlement.kind, Settlement::Kind::retry);
  EXPECT_EQ(settlement.delay_ms, 1'500);
  EXPECT_EQ(settlement.attempts_made, 0U);
  EXPECT_EQ(settlement.attempts_started, 3U);
  EXPECT_EQ(end(Outcome::retry_in(milliseconds(-5))).delay_ms, 0);
}

TEST(Settlement, ADelayOfTheOutcomeStandsForTheBackoffWithinItsRange) {
  const JobOptions options{.attempts = 3, .backoff = Backoff::fixed(milliseconds(100))};
  EXPECT_EQ(end(Outcome::fail("no", milliseconds(0)), options).delay_ms, 0);
  EXPECT_EQ(end(Outcome::fail("no", milliseconds(-5)), options).delay_ms, 0);
  EXPECT_EQ(end(Outcome::fail("no", 2 * kMaxDelay), options).delay_ms, kMaxDelay.count());
  EXPECT_EQ(end(Outcome::fail("no", milliseconds(7)), options).attempts_made, 1U);
  EXPECT_EQ(end(Outcome::fail("no", milliseconds(7))).kind, Settlement::Kind::fail);
}

TEST(Settlement, AResultOverItsLimitFailsTheJobAndSaysSo) {
  const auto settlement = end(Outcome::done(std::string(kMaxResultBytes + 1, 'x')));
  EXPECT_EQ(settlement.kind, Settlement::Kind::fail);
  EXPECT_NE(settlement.text.find("262145"), std::string::npos) << settlement.text;
  EXPECT_EQ(end(Outcome::done(std::string(kMaxResultBytes, 'x'))).kind, Settlement::Kind::complete);
}

TEST(Settlement, AReasonIsCutAtItsLimitBetweenCharacters) {
  const std::string two_bytes = "\xC3\xA4";
  std::string reason(kMaxReasonBytes - 1, 'x');
  const auto settlement = end(Outcome::fail(reason + two_bytes));
  EXPECT_EQ(settlement.text, reason) << "half a character would not be UTF-8";
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "abc");
}

TEST(Settlement, AnUnstartedJobGoesBackWithoutATrace) {
  EXPECT_EQ(give_back(job_with({}), /*started=*/false).attempts_started, 0U);
  EXPECT_EQ(give_back(job_with({}), /*started=*/true).attempts_started, 3U);
}

TEST(Settlement, OnlyEqualKindsAndRulesTravelTogether) {
  const auto complete = end(Outcome::done());
  EXPECT_TRUE(complete.travels_with(end(Outcome::done("other"))));
  EXPECT_FALSE(complete.travels_with(end(Outcome::fail("x"))));
  EXPECT_FALSE(complete.travels_with(end(Outcome::done(), {.keep_completed = Keep::all()})));
}

}  // namespace
}  // namespace echomq

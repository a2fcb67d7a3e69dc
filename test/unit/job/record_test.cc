// SPDX-License-Identifier: MIT
#include "job/record.h"

#include <gtest/gtest.h>

namespace echomq {
namespace {

wire::Reply text(std::string value) {
  wire::Reply reply;
  reply.kind = wire::Reply::Kind::text;
  reply.text = std::move(value);
  return reply;
}

wire::Reply texts(std::vector<std::string> values) {
  wire::Reply reply;
  reply.kind = wire::Reply::Kind::array;
  for (auto& value : values) reply.items.push_back(text(std::move(value)));
  return reply;
}

TEST(ReadLoaded, TakesTheFieldsInTheirOrder) {
  const auto job = job::read_loaded(
      "9", texts({R"(1700000000000:6:resize{"attempts":4})", "bytes", "3:2:1:5:0::w"}));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->name, "resize");
  EXPECT_EQ(job->data, "bytes");
  EXPECT_EQ(job->options.attempts, 4U);
  EXPECT_EQ(job->added_ms, 1'700'000'000'000);
  EXPECT_EQ(job->attempts_made, 2U);
  EXPECT_EQ(job->attempts_started, 3U);
  EXPECT_EQ(job->crashes, 1U);
}

TEST(ReadLoaded, AHashThatIsGoneIsNoJob) {
  auto reply = texts({"", "", ""});
  reply.items[0] = wire::Reply{};
  EXPECT_FALSE(job::read_loaded("9", reply));
}

TEST(ReadLoaded, AnErrorIsNoJob) {
  auto reply = text("WRONGTYPE ...");
  reply.kind = wire::Reply::Kind::error;
  EXPECT_FALSE(job::read_loaded("9", reply));
}

TEST(ReadLoaded, OddFieldsReadAsAbsent) {
  const auto job = job::read_loaded("9", texts({"what is this", "bytes", "nor this"}));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->data, "bytes");
  EXPECT_EQ(job->name, "");
  EXPECT_EQ(job->options.attempts, 1U);
  EXPECT_EQ(job->attempts_made, 0U);
}

TEST(ReadHead, NamesMayLookLikeAnything) {
  const auto head = job::read_head("12:5::{}1:{}");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->added_ms, 12);
  EXPECT_EQ(head->name, ":{}1:");
  EXPECT_EQ(head->opts, "{}");
}

TEST(ReadHead, AnotherFormIsNone) {
  for (const auto* const text :
       {"", "1", "1:", "1:0", ":0:", "-1:0:", "1:-1:", "1:1:", "1:9:name",
        "x:0:", "1: 0:", "1:0x:", "99999999999999999999:0:", "1:99999999999999999999:"})
    EXPECT_FALSE(job::read_head(text)) << text;
}

TEST(ReadRuns, TakesThePartsInTheirOrder) {
  const auto runs = job::read_runs("4:3:2:1700000000000:1700000005000:77:a:b");
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->claims_ended, 4U);
  EXPECT_EQ(runs->attempts_made, 3U);
  EXPECT_EQ(runs->crashes, 2U);
  EXPECT_EQ(runs->started_ms, 1'700'000'000'000);
  EXPECT_EQ(runs->ended_ms, 1'700'000'005'000);
  EXPECT_EQ(runs->worker, "a:b");
}

TEST(ReadRuns, AnotherFormIsNone) {
  for (const auto* const text : {"", "1:1:0:0:0", "1:1:0:0:0:", "1:1:0:0:0:x:w", ":1:0:0:0::w",
                                 "1:1:-1:0:0::w", "1:1:4294967296:0:0::w", "1:1:0:0::w"})
    EXPECT_FALSE(job::read_runs(text)) << text;
}

TEST(ReadInfo, FieldsRefineTheOptionsWhateverTheirOrder) {
  const auto info = job::read_info(
      "mail", "9",
      texts({"delayed", "1700000005000", "priority", "7", "lifo", "1", "delay", "5000", "head",
             R"(1:1:n{"attempts":4})", "run", "0:0:2:0:0::", "failedReason", "why"}));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->state, JobState::delayed);
  EXPECT_EQ(info->due_ms, 1'700'000'005'000);
  EXPECT_EQ(info->options.attempts, 4U);
  EXPECT_EQ(info->options.priority, 7U);
  EXPECT_TRUE(info->options.lifo);
  EXPECT_EQ(info->options.delay.count(), 5'000);
  EXPECT_EQ(info->crashes, 2U);
  EXPECT_EQ(info->failed_reason, "why");
  EXPECT_FALSE(info->result);
}

TEST(ReadInfo, AnEmptyAnswerIsNoJob) { EXPECT_FALSE(job::read_info("mail", "9", texts({}))); }

TEST(JobState, EveryStateHasItsWord) {
  for (const auto state :
       {JobState::waiting, JobState::prioritized, JobState::delayed, JobState::active,
        JobState::completed, JobState::failed, JobState::waiting_children}) {
    const auto info = job::read_info("q", "1", texts({std::string(name(state)), "0"}));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->state, state);
  }
}

}  // namespace
}  // namespace echomq

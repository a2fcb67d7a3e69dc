// SPDX-License-Identifier: MIT
// Bad input: a typed error that names the value and what was expected, and nothing written.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Refused : public LibraryTest {
 protected:
  void SetUp() override { ASSERT_TRUE(queue.add("the one job")); }

  // Every way to add `options` is refused alike, and leaves no trace.
  void expect_refused(ErrorCode code, const std::string& value, const JobOptions& how,
                      const std::string& data = "data") {
    const auto before = dump_queue(redis, name);
    const auto check = [&](const Error& error, const char* by) {
      EXPECT_EQ(error.code, code) << by << ": " << error.message();
      const auto* found = error.field("value");
      EXPECT_TRUE(found != nullptr && *found == value)
          << by << ": " << (found != nullptr ? *found : "no value") << ", not " << value;
    };
    const auto added = queue.add(data, how);
    ASSERT_FALSE(added) << value;
    check(added.error(), "add");
    const auto async = queue.async_add(data, how).get();
    ASSERT_FALSE(async) << value;
    check(async.error(), "async_add");
    const auto bulk = queue.add_bulk({{"good", {}}, {data, how}, {"good", {}}});
    ASSERT_FALSE(bulk) << value;
    check(bulk.error(), "add_bulk");
    ASSERT_NE(bulk.error().field("index"), nullptr);
    EXPECT_EQ(*bulk.error().field("index"), "1");
    EXPECT_EQ(difference(before, dump_queue(redis, name)), "");
  }
};

TEST_F(Refused, NegativeDelay) {
  expect_refused(ErrorCode::invalid_argument, "-1", {.delay = -1ms});
  expect_refused(ErrorCode::invalid_argument, "315360000001", {.delay = kMaxDelay + 1ms});
}

TEST_F(Refused, PriorityOutOfRange) {
  expect_refused(ErrorCode::invalid_argument, "2097152", {.priority = kMaxPriority + 1});
}

TEST_F(Refused, AttemptsOutOfRange) {
  expect_refused(ErrorCode::invalid_argument, "0", {.attempts = 0});
  expect_refused(ErrorCode::invalid_argument, "1000001", {.attempts = kMaxAttempts + 1});
}

TEST_F(Refused, ConflictingOptions) {
  expect_refused(ErrorCode::invalid_argument, "true with priority 3",
                 {.priority = 3, .lifo = true});
}

TEST_F(Refused, BackoffOutOfRange) {
  expect_refused(ErrorCode::invalid_argument, "-5", {.backoff = Backoff::fixed(-5ms)});
  expect_refused(ErrorCode::invalid_argument, "1.5", {.backoff = Backoff::exponential(1s, 1.5)});
  expect_refused(ErrorCode::invalid_argument, "1000", {.backoff = {Backoff::Kind::none, 1s, 0.0}});
}

TEST_F(Refused, NegativeAge) {
  expect_refused(ErrorCode::invalid_argument, "-1", {.keep_completed = Keep{1, -1s}});
  expect_refused(ErrorCode::invalid_argument, "-2", {.keep_failed = Keep{1, -2s}});
}

TEST_F(Refused, LongName) {
  expect_refused(ErrorCode::invalid_argument, "256 bytes long", {.name = std::string(256, 'n')});
}

TEST_F(Refused, NameThatIsNotUtf8) {
  const auto got = queue.add("data", {.name = "caf\xe9"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::encoding) << got.error().message();
}

TEST_F(Refused, CustomIdsOutsideTheGrammar) {
  for (const std::string id : {"wait", "stalled", "meta", "group", "12345", "0", "BAT0KHTOWnGLuC",
                               "two words", "a:b", "a{b}", "caf\xc3\xa9", "a/b"})
    expect_refused(ErrorCode::invalid_name, id, {.id = id});
  const std::string longest(255, 'i');
  ASSERT_TRUE(queue.add("data", {.id = longest}));
  expect_refused(ErrorCode::invalid_name, longest + "i", {.id = longest + "i"});
}

TEST_F(Refused, DataOverTheLimit) {
  const auto limit = ClientOptions{}.data_limit;
  ASSERT_TRUE(queue.add(std::string(limit, 'd')));
  expect_refused(ErrorCode::too_large, std::to_string(limit + 1), {}, std::string(limit + 1, 'd'));
}

TEST_F(Refused, QueueNamesOutsideTheGrammar) {
  const auto before = dump_reserve(redis);
  for (const std::string bad :
       {"", "emq", "{emq}", "two words", "a:b", "{}", "{a", "a}", "a{b}", "caf\xc3\xa9", "a/b"}) {
    Queue<> q{client, bad};
    const auto check = [&bad](const Error& error, const char* by) {
      EXPECT_EQ(error.code, ErrorCode::invalid_name) << by << " " << bad << ": " << error.message();
      EXPECT_NE(error.field("value"), nullptr) << by;
    };
    check(error_of(q.open()), "open");
    check(error_of(q.add("x")), "add");
    check(error_of(q.add_bulk({{"x", {}}})), "add_bulk");
    check(error_of(q.async_add("x").get()), "async_add");
    check(error_of(q.counts()), "counts");
    check(error_of(q.job("x")), "job");
    Worker worker{q, {}, [](Job<>&) {}};
    EXPECT_TRUE(worker.wait(10s));
    ASSERT_FALSE(worker.status());
    check(worker.status().error(), "worker");
  }
  EXPECT_EQ(difference(before, dump_reserve(redis)), "");
  EXPECT_EQ(error_of(Queue<>(client, std::string(129, 'q')).open()).code, ErrorCode::invalid_name);
}

TEST_F(Refused, IdsThatNoJobCanHave) {
  for (const std::string id : {"wait", "two words", "a:logs", "007", "9223372036854775808", ""}) {
    const auto got = queue.job(id);
    ASSERT_FALSE(got) << id;
    EXPECT_EQ(got.error().code, ErrorCode::invalid_name) << id << ": " << got.error().message();
  }
  const auto branded = queue.job("BAT0KHTOWnGLuC");
  ASSERT_FALSE(branded);
  EXPECT_EQ(branded.error().code, ErrorCode::invalid_name);
  ASSERT_NE(branded.error().field("decimal"), nullptr);
  EXPECT_EQ(*branded.error().field("decimal"), "274557032793636864");
}

}  // namespace
}  // namespace echomq::test

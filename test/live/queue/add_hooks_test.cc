// SPDX-License-Identifier: MIT
// What is called around each add, and the trace that it carries to the handler.
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class AddHooks : public LibraryTest {
 protected:
  // A client whose adds all carry the trace, and a note of how each ended.
  Client hooked() {
    auto with = options();
    with.before_add = [](std::string_view of, std::string& data, JobOptions& how) {
      data = std::string(of) + ":" + data;
      how.traceparent = kTrace;
      how.tracestate = "vendor=\"1\"";
    };
    with.after_add = [this](std::string_view, const Result<AddedJob>& id) {
      const std::lock_guard lock(mutex);
      ended.push_back(id ? id->id : std::string(echomq::name(id.error().code)));
    };
    return connect(server.url(), with).value();
  }
  std::vector<std::string> all_ended() {
    const std::lock_guard lock(mutex);
    return ended;
  }

  std::mutex mutex;
  std::vector<std::string> ended;
};

TEST_F(AddHooks, SeeEachAddAndMayChangeIt) {
  auto other = hooked();
  Queue<> same{other, name};
  const std::string one = same.add("x").value();
  const std::string two = same.async_add("y").get().value();
  const auto many = same.add_bulk({{"z"}, {"z"}}).value();
  EXPECT_EQ(info(one).data, name + ":x");
  EXPECT_EQ(info(two).data, name + ":y");
  EXPECT_EQ(info(many[1].value()).options.traceparent, kTrace);
  EXPECT_TRUE(eventually([this] { return all_ended().size() == 4; }));
  EXPECT_EQ(all_ended(), (std::vector<std::string>{one, two, *many[0], *many[1]}));
}

TEST_F(AddHooks, AreToldOfRefusals) {
  auto other = hooked();
  Queue<> same{other, name};
  EXPECT_FALSE(same.add("x", {.attempts = 0}));
  EXPECT_FALSE(same.async_add("x", {.priority = kMaxPriority + 1}).get());
  EXPECT_FALSE(same.add_bulk({{"a"}, {"b", {.attempts = 0}}}));
  const std::string once = "once";
  ASSERT_TRUE(same.add("x", {.id = once}));
  EXPECT_FALSE(same.add("x", {.id = once}));
  EXPECT_TRUE(eventually([this] { return all_ended().size() == 6; }));
  EXPECT_EQ(all_ended(),
            (std::vector<std::string>{"invalid_argument", "invalid_argument", "invalid_argument",
                                      "invalid_argument", once, "duplicate"}));
}

TEST_F(AddHooks, TheTraceReachesTheHandler) {
  auto other = hooked();
  Queue<> same{other, name};
  ASSERT_TRUE(same.add("x"));
  ASSERT_TRUE(queue.add("without"));
  std::vector<std::string> seen;
  Worker worker{queue, {.concurrency = 1, .stop_when_empty = true}, [&seen](Job<>& job) {
                  seen.push_back(job.traceparent() + "|" + job.tracestate());
                }};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_EQ(seen, (std::vector<std::string>{std::string(kTrace) + "|vendor=\"1\"", "|"}));
}

}  // namespace
}  // namespace echomq::test

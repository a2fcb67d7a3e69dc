// SPDX-License-Identifier: MIT
// What a connected client tells, and how it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/child_process.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class ClientOf : public LibraryTest {};

TEST_F(ClientOf, TellsAboutItsServer) {
  EXPECT_EQ(client.url(), server.url());
  EXPECT_GE(client.server_version(), "7");
  EXPECT_LT(client.node(), 1'024U);
  const auto local = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  EXPECT_NEAR(static_cast<double>(client.server_time_ms()), static_cast<double>(local), 2'000.0);
}

TEST_F(ClientOf, NamesItsConnections) {
  auto named = options();
  named.name = "till-7";
  const auto till = connect(server.url(), named).value();
  EXPECT_NE(redis({"CLIENT", "LIST"}).text.find("name=till-7"), std::string::npos);
}

TEST_F(ClientOf, ListsTheQueuesThatWereOpened) {
  const std::string second = name + ".second";
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(Queue<>(client, second).open());
  const auto names = client.queues().value();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), name), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), second), 1);
}

TEST_F(ClientOf, ClosedRefusesEverything) {
  ASSERT_TRUE(queue.add("before"));
  client.close();
  client.close();  // again: no harm
  EXPECT_EQ(error_of(queue.add("after")).code, ErrorCode::closed);
  EXPECT_EQ(error_of(queue.async_add("after").get()).code, ErrorCode::closed);
  EXPECT_EQ(error_of(queue.counts()).code, ErrorCode::closed);
  EXPECT_EQ(error_of(client.queues()).code, ErrorCode::closed);
  EXPECT_EQ(error_of(client.mint_id()).code, ErrorCode::closed);
  auto other = another();
  EXPECT_EQ(Queue<>(other, name).counts().value().waiting, 1);
}

// Each add is answered once, whether it was sent or not.
TEST_F(ClientOf, CloseAnswersWhatIsUnderWay) {
  ASSERT_TRUE(queue.open());
  std::vector<std::future<Result<AddedJob>>> adds;
  for (int i = 0; i < 5'000; ++i) adds.push_back(queue.async_add("x"));
  client.close();
  std::size_t added = 0;
  for (auto& add : adds) {
    ASSERT_EQ(add.wait_for(10s), std::future_status::ready);
    const auto result = add.get();
    if (result) {
      ++added;
      continue;
    }
    EXPECT_TRUE(result.error().code == ErrorCode::closed || result.error().unknown_outcome())
        << result.error().message();
  }
  auto other = another();
  EXPECT_GE(Queue<>(other, name).counts().value().waiting, static_cast<std::int64_t>(added));
}

TEST_F(ClientOf, LastHandleMayGoInsideACallback) {
  auto own = std::make_unique<Client>(another());
  auto q = std::make_unique<Queue<>>(*own, name);
  std::promise<void> gone;
  q->async_add("x", {}, [&](const Result<AddedJob>& id) {
    EXPECT_TRUE(id);
    q.reset();
    own.reset();
    gone.set_value();
  });
  EXPECT_EQ(gone.get_future().wait_for(10s), std::future_status::ready);
}

// It used what the end of main() had destroyed: a crash at the exit of short programs, now and
// then.
TEST_F(ClientOf, NoThreadOutlivesMainWhenTheLastHandleWentInACallback) {
  for (int time = 0; time < 10; ++time) {
    ChildProcess program("last_handle", {server.url(), name});
    EXPECT_EQ(program.wait(), 0) << program.output();
  }
}

// A call that would wait for the thread it runs on is refused, not left hanging.
TEST_F(ClientOf, BlockingCallInsideACallbackIsRefused) {
  std::promise<std::vector<ErrorCode>> seen;
  queue.async_add("x", {}, [&](const Result<AddedJob>& id) {
    std::vector<ErrorCode> codes;
    codes.push_back(error_of(queue.add("y")).code);
    codes.push_back(error_of(queue.add_bulk({{"y", {}}})).code);
    codes.push_back(error_of(queue.counts()).code);
    codes.push_back(error_of(queue.job(id.value())).code);
    codes.push_back(error_of(queue.open()).code);
    codes.push_back(error_of(client.queues()).code);
    codes.push_back(error_of(client.mint_id()).code);
    seen.set_value(codes);
  });
  auto codes = seen.get_future();
  ASSERT_EQ(codes.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(codes.get(), std::vector<ErrorCode>(7, ErrorCode::invalid_argument));
  EXPECT_EQ(counts().waiting, 1);
}

TEST_F(ClientOf, PostDecidesWhereCallbacksRun) {
  std::vector<std::function<void()>> tasks;
  std::mutex mutex;
  auto posting = options();
  posting.post = [&](std::function<void()> task) {
    const std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
  };
  auto own = connect(server.url(), posting).value();
  Queue<> q{own, name};
  std::thread::id ran_on;
  Result<AddedJob> blocking = AddedJob{};
  q.async_add("x", {}, [&](const Result<AddedJob>&) {
    ran_on = std::this_thread::get_id();
    blocking = q.add("from inside");  // here it may block
  });
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return tasks.size() == 1;
  }));
  EXPECT_EQ(ran_on, std::thread::id());
  tasks[0]();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_TRUE(blocking) << blocking.error().message();
}

}  // namespace
}  // namespace echomq::test

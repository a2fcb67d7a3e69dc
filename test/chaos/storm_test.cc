// SPDX-License-Identifier: MIT
// Connections that are cut again and again, faster than anything can settle.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "chaos.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Storm : public Chaos {};

// A busy worker and an idle one, which gets a job now and then, in the same storm.
TEST_F(Storm, P1_BusyAndIdleWorkersAreDoneSoonAfter) {
  std::atomic<int> downs{0};
  auto how = hasty();
  how.on_state = [&](ConnectionState state, std::string_view) {
    downs += state == ConnectionState::down ? 1 : 0;
  };
  BusyAndIdle workers(
      *this, [this](const ClientOptions& own) { return far(own); }, how, steady(),
      [](Job<>&) { last(1ms); });
  auto& idle = workers.idle;
  auto& runs = workers.runs;
  Feed feed{another(), name};
  ASSERT_TRUE(eventually([&] { return runs.size() > 50; }, kResumes)) << log.text();
  std::vector<std::string> ids;
  auto next = std::chrono::steady_clock::now();
  repeatedly(50ms, 3s, [&] {
    proxy.cut();
    if (std::chrono::steady_clock::now() < next) return;
    next += 250ms;
    ids.push_back(idle.queue.add("ready").value());
    ids.push_back(idle.queue.add("later", {.delay = 100ms}).value());
  });
  EXPECT_GT(proxy.counted().cut, 100U);
  EXPECT_GT(downs, 50) << "whoever watches the states of a client sees that it is not well";
  const auto before = runs.size();
  EXPECT_TRUE(eventually(
      [&] { return runs.size() > before + 100 && idle.runs.size() == ids.size(); }, kResumes))
      << counts_text() << "; idle: " << idle.runs.size() << " of " << ids.size() << "\n"
      << log.text();
  expect_done(feed.stop(), runs);
  idle.expect_done(ids);
  workers.expect_at_work();
}

// A producer under the same weather: what it was told is there is there, once.
TEST_F(Storm, ProducerAddsOnceEachAndIsNeverStuck) {
  auto how = hasty();
  how.command_timeout = 5s;
  auto own = far(how);
  Queue<> q{own, name};
  std::vector<std::string> ids;
  std::size_t unknown = 0;
  repeatedly(20ms, 800ms, [&] {
    proxy.cut();
    auto results = q.add_bulk(std::vector<NewJob<>>(30, {"x", {}})).value();
    for (auto& id : results) {
      if (id)
        ids.push_back(*std::move(id));
      else
        unknown += id.error().unknown_outcome() ? 1 : 1'000'000;
    }
  });
  EXPECT_GT(ids.size(), 100U);
  EXPECT_EQ(unknown, 0U) << "five seconds are enough to say it again";
  const auto stand = places(redis, name);
  for (const auto& id : ids) {
    ASSERT_TRUE(stand.contains(id)) << id << " is lost";
    ASSERT_EQ(stand.at(id), "wait") << id;
  }
  EXPECT_EQ(stand.size(), ids.size()) << "a job was added twice";
  const auto listed = texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"}));
  EXPECT_EQ(listed.size(), ids.size());
}

class Nonsense : public Storm {
 protected:
  // A busy worker gets the bytes somewhere in its answers, at their borders and inside; it must be
  // at work again before the next ones come.
  void expect_survived(const std::vector<std::string>& all) {
    auto own = far();
    Queue<> q{own, name};
    Runs runs;
    Worker worker{q, steady(), [&](Job<>& job) { runs.note(job.id()); }};
    Feed feed{another(), name};
    ASSERT_TRUE(eventually([&] { return runs.size() > 50; }, kResumes)) << log.text();
    proxy.set({.drip = 2'000, .tick = 1ms});
    for (const auto& bytes : all) {
      const auto before = runs.size();
      proxy.inject(bytes);
      ASSERT_TRUE(
          eventually([&] { return runs.size() > before + 20 || worker.wait(0ms); }, kResumes))
          << testing::PrintToString(bytes) << "\n"
          << log.text();
      ASSERT_TRUE(worker.status())
          << testing::PrintToString(bytes) << ": " << error_of(worker.status()).message();
    }
    proxy.pass();
    expect_done(feed.stop(), runs);
  }
};

TEST_F(Nonsense, P32_BytesThatAreNoAnswer) {
  const std::vector<std::string> known{"$99999999999999999999\r\n",
                                       "$-2\r\n",
                                       "*4294967295\r\n",
                                       "*-7\r\n",
                                       ":\r\n",
                                       ":12a\r\n",
                                       ",1e\r\n",
                                       "#x\r\n",
                                       "=3\r\nab\r\n",
                                       "\r\n",
                                       "+\r",
                                       "$?\r\n",
                                       std::string(64, '*'),
                                       std::string("\0\0\0", 3),
                                       "HTTP/1.1 400 Bad Request\r\n\r\n"};
  auto all = known;
  std::mt19937 random(32);
  for (std::size_t size = 1; size < 12; ++size) {
    std::string bytes(size, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    bytes[0] = static_cast<char>(0x80U | random());  // begins nothing that is RESP
    all.push_back(bytes);
  }
  expect_survived(all);
}

// While nothing is asked no answer can be right, and the connection is given up; and one too many
// on the blocking connection is taken for a wake at most.
TEST_F(Nonsense, P32_AnswersThatNobodyAskedFor) {
  auto own = far();
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Worker worker{q, steady(), [&](Job<>& job) { runs.note(job.id()); }};
  std::vector<std::string> ids;
  for (const std::string bytes : {"+OK\r\n", "_\r\n", "-ERR x\r\n", "*3\r\n+a\r\n+b\r\n+c\r\n"}) {
    for (const auto* const where : {":block", ""}) {
      ASSERT_TRUE(eventually([&] { return blocks(name); }, kResumes)) << log.text();
      const auto accepted = proxy.counted().accepted;
      EXPECT_EQ(proxy.inject(bytes, ChaosProxy::named(name + where)), 1U);
      ASSERT_TRUE(*where != '\0' ||
                  eventually([&] { return proxy.counted().accepted > accepted; }, kResumes));
      ids.push_back(queue.add("x").value());
      ASSERT_TRUE(eventually([&] { return runs.size() == ids.size(); }, kResumes)) << bytes << "\n"
                                                                                   << log.text();
      ASSERT_TRUE(worker.status()) << bytes << ": " << error_of(worker.status()).message();
    }
  }
  expect_done(ids, runs);
}

}  // namespace
}  // namespace echomq::test

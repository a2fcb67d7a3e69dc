// SPDX-License-Identifier: MIT
// Processes whose clocks are an hour wrong, ahead and behind, beside a server whose clock is right:
// the server's clock is the one that counts.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos.h"
#include "echomq/id.h"
#include "support/emq_run.h"
#include "support/fleet.h"
#include "support/sanitizer.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// The library of Debian's package faketime, which tells a program another time than it is.
std::string clock_library() {
  std::error_code none;
  for (const auto& folder : std::filesystem::directory_iterator("/usr/lib", none)) {
    const auto path = folder.path() / "faketime/libfaketimeMT.so.1";
    if (std::filesystem::exists(path, none)) return path;
  }
  throw std::runtime_error("libfaketime is not installed; ./run deps test installs it");
}

Environment clock_off_by(const std::string& offset) {
  return {{"LD_PRELOAD", clock_library()},
          {"FAKETIME", offset},
          {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
          {"FAKETIME_DONT_RESET", "1"}};
}

class WrongClock : public EmqTest {
 protected:
  void SetUp() override {
    if (kSanitized)
      GTEST_SKIP() << "a sanitizer's runtime must be loaded first, and so must libfaketime";
  }

  // How far the process's clock is from the server's.
  std::int64_t error_of_clock(const ChildProcess& process) {
    const auto text = process.output();
    const auto at = text.find("clock=");
    if (at == std::string::npos) return 0;
    return std::stoll(text.substr(at + 6)) - client.server_time_ms();
  }
  std::string add_by(const std::string& offset, const std::string& data,
                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"add", name, "job", data};
    words.insert(words.end(), more.begin(), more.end());
    const auto run = emq(words, {.environment = clock_off_by(offset)});
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out.substr(0, run.out.find('\n'));
  }

  Fleet fleet{server.url(), name};
};

// Two workers, each an hour wrong in its direction, a third one with the right clock, all ready to
// take over from the dead: jobs that last longer than a lease stay with whoever has them.
TEST_F(WrongClock, AnHourAheadAndAnHourBehindNobodyIsRobbed) {
  std::vector<std::string> ids;
  for (const auto* const offset : {"+1h", "-1h"})
    for (int i = 0; i < 3; ++i) ids.push_back(add_by(offset, "nap 3500"));
  for (auto& id : add(std::vector<std::string>(60, "nap 5"))) ids.push_back(std::move(id));
  auto& ahead = fleet.start({"concurrency=4", "lease=2000"}, clock_off_by("+1h"));
  auto& behind = fleet.start({"concurrency=4", "lease=2000"}, clock_off_by("-1h"));
  auto& right = fleet.start({"concurrency=1", "lease=2000"});
  ASSERT_TRUE(
      eventually([&] { return counts().completed == static_cast<std::int64_t>(ids.size()); }, 20s))
      << fleet.output();
  constexpr double kHour = 3'600'000;
  EXPECT_NEAR(double(error_of_clock(ahead)), kHour, 30'000);
  EXPECT_NEAR(double(error_of_clock(behind)), -kHour, 30'000);
  EXPECT_NEAR(double(error_of_clock(right)), 0, 30'000);
  expect_all_done(redis, queue, ids, fleet.runs(), 0);
  for (auto* const worker : {&ahead, &behind, &right}) {
    worker->signal(SIGTERM);
    EXPECT_EQ(worker->wait(), 0) << worker->output();
    EXPECT_NE(worker->output().find("refused=0 recovered=0"), std::string::npos)
        << worker->output();
  }
}

// Whoever adds and whoever promotes: the delay is the server's.
TEST_F(WrongClock, DelaysAreKeptByTheServersClock) {
  std::vector<std::string> ids;
  std::vector<std::int64_t> delays;
  for (const auto* const offset : {"+1h", "-1h"}) {
    for (const int delay : {500, 1'200}) {
      const auto before = client.server_time_ms();
      ids.push_back(add_by(offset, "x", {"--delay", std::to_string(delay) + "ms"}));
      delays.push_back(delay);
      const auto job = info(ids.back());
      EXPECT_GE(job.added_ms, before - 50) << offset;
      EXPECT_LE(job.added_ms, client.server_time_ms() + 50) << offset;
      EXPECT_NEAR(double(decode_id(ids.back()).value().unix_ms), double(job.added_ms), 1'000)
          << offset;
    }
  }
  for (const auto* const offset : {"+1h", "-1h"}) {
    fleet.start({"lease=2000", "poll=1000"}, clock_off_by(offset));
    ids.push_back(queue.add("x", {.delay = 1'500ms}).value());
    delays.push_back(1'500);
  }
  ASSERT_TRUE(
      eventually([&] { return counts().completed == static_cast<std::int64_t>(ids.size()); }, 20s))
      << fleet.output();
  expect_all_done(redis, queue, ids, fleet.runs(), 0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto job = info(ids[i]);
    EXPECT_GE(job.processed_ms, job.added_ms + delays[i] - 50) << i;
    EXPECT_LE(job.finished_ms, client.server_time_ms() + 50) << i;
  }
}

// The server's clock is set while clients are connected. They learn the time by TIME alone, so that
// is where it is set.
class ServerClockIsSet : public Chaos {
 protected:
  static std::int64_t local_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  static bool runs_ahead(const Client& by, std::chrono::milliseconds time) {
    return std::abs(by.server_time_ms() - local_ms() - time.count()) < 60'000;
  }

  // A worker works and holds a job for longer than its lease, another one is ready to take over,
  // and a node id is given back before.
  void expect_all_goes_on(std::chrono::seconds at_first, std::chrono::seconds then) {
    proxy.shift_time(at_first);
    auto how = hasty();
    how.node_lease = 3s;  // so that the clock is looked at every second
    auto own = far(how);
    auto other = far(how);
    ASSERT_TRUE(runs_ahead(own, at_first));
    auto fixed = how;
    fixed.node = own.node() == 7 || other.node() == 7 ? 8 : 7;
    std::vector<std::string> ids;
    {
      auto before = far(fixed);
      Queue<> q{before, name};
      ids.push_back(q.add("x").value());
    }
    Queue<> q{own, name};
    Queue<> theirs{other, name};
    Runs runs;
    Gate gate;
    auto leased = steady();
    leased.lease = 2s;
    const auto handler = [&](Job<>& job) {
      runs.note(job.id());
      if (job.data() == "held") gate.pass();
    };
    Worker worker{q, leased, handler};
    Worker second{theirs, leased, handler};
    ids.push_back(q.add("held").value());
    ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, kResumes)) << log.text();

    proxy.shift_time(then);
    ASSERT_TRUE(eventually([&] { return runs_ahead(own, then) && runs_ahead(other, then); }, 5s));
    const auto added = q.add_bulk(std::vector<NewJob<>>(300, {"x", {}})).value();
    for (const auto& id : added) {
      ASSERT_TRUE(id) << id.error().message();
      ids.push_back(*id);
    }
    const auto minted = own.mint_id();
    EXPECT_TRUE(minted) << minted.error().message();
    const auto delayed = q.add("x", {.delay = 300ms}).value();
    ids.push_back(delayed);
    auto after = far(fixed);
    Queue<> last_one{after, name};
    const auto id = last_one.add("x");
    ASSERT_TRUE(id) << id.error().message();
    ids.push_back(*id);
    if (then > at_first) last(2'500ms);  // time for a thief
    EXPECT_TRUE(
        eventually([&] { return counts().completed == std::int64_t(ids.size()) - 1; }, kResumes))
        << counts_text();
    gate.open();
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
    expect_done(ids, runs);
    EXPECT_EQ(worker.stats().refused + second.stats().refused, 0U);
    EXPECT_EQ(worker.stats().recovered + second.stats().recovered, 0U);
    const auto job = info(delayed);
    EXPECT_GE(job.processed_ms, job.added_ms + 300);
    EXPECT_NEAR(double(job.processed_ms), double(own.server_time_ms()), 60'000);
  }
};

// Ids that were minted before are ahead of the clock from then on.
TEST_F(ServerClockIsSet, BackByAnHourAndAllGoesOn) { expect_all_goes_on(1h, 0h); }

// All leases look expired from then on.
TEST_F(ServerClockIsSet, AheadByAnHourAndAllGoesOn) { expect_all_goes_on(0h, 1h); }

}  // namespace
}  // namespace echomq::test

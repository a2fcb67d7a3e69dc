// SPDX-License-Identifier: MIT
// A call whose answer never comes, at each place where a worker and its client wait for one: the
// rest goes on, and that loop too after a while.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "chaos.h"
#include "protocol/lease.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// A queue with a worker of its own, one of whose calls gets no answer.
class StuckScene {
 public:
  // `call` is the one that is never answered, the first `after` of them are; `data` is of the job
  // that brings it about.
  StuckScene(TestServer& server, ClientOptions options, std::string call, std::size_t after,
             std::string data, JobOptions how = {})
      : call_(std::move(call)), direct_(connect(server.url(), options).value()), proxy_(server) {
    options.node_lease = 3s;
    proxy_.lose(Loss::silence, call_, {.after = after});
    far_ = std::make_unique<Client>(connect(proxy_.url(), options).value());
    far_queue_ = std::make_unique<Queue<>>(*far_, name_);
    EXPECT_TRUE(queue_.open());
    if (data == "dead")
      make_dead(server);
    else
      ids_.push_back(queue_.add(data, how).value());
    WorkerOptions worker;
    worker.concurrency = 2;
    worker.lease = 2s;
    worker.poll = 1s;
    worker.keep_completed = Keep::all();
    worker_ =
        std::make_unique<Worker>(*far_queue_, worker, [this](Job<>& job) { return handle(job); });
  }

  // Answers whether all is done; adds one more job when the call is stuck.
  bool step() {
    if (proxy_.lost(call_) == 0) return false;
    if (!second_) {
      second_ = true;
      stuck_since_ = std::chrono::steady_clock::now();
      ids_.push_back(queue_.add("plain").value());
      gate_.open();
    }
    const auto now = queue_.counts().value_or({});
    if (now.completed < static_cast<std::int64_t>(ids_.size())) return false;
    if (!done_) took_ = std::chrono::steady_clock::now() - stuck_since_;
    done_ = true;
    return true;
  }

  void expect_well() {
    SCOPED_TRACE(call_);
    EXPECT_EQ(proxy_.lost(call_), 1U) << "the call was not made";
    EXPECT_TRUE(done_) << log_.text();
    EXPECT_LT(took_, kResumes);
    EXPECT_TRUE(worker_->status()) << error_of(worker_->status()).message();
    for (const auto& id : ids_) {
      const auto job = queue_.job(id);
      ASSERT_TRUE(job) << id << " is lost";
      EXPECT_EQ(job->state, JobState::completed) << id;
      EXPECT_EQ(job->crashes, id == dead_ ? 1U : 0U) << id;
      EXPECT_EQ(runs_.times(id), id == failing_ ? 2 : 1) << id;
    }
  }
  void stop() { EXPECT_TRUE(worker_->stop(10s)) << call_; }

 private:
  Outcome handle(Job<>& job) {
    runs_.note(job.id());
    if (job.data() == "hold") gate_.pass();
    if (job.data() == "report") (void)job.progress("half");
    if (job.data() == "fails" && job.attempt() == 1) {
      failing_ = job.id();
      return Outcome::fail("once");
    }
    return Outcome::done();
  }

  // A job whose worker has died long ago.
  void make_dead(const TestServer& server) {
    dead_ = queue_.add("plain").value();
    ids_.push_back(dead_);
    auto redis = server.connect();
    redis({"LREM", key(name_, Structure::wait), "0", dead_});
    const Lease over{Lease::deadline_for(direct_.server_time_ms(), -60'000), direct_.node() ^ 1U,
                     7};
    redis({"ZADD", key(name_, Structure::active), std::to_string(over.score()), dead_});
  }

  std::string call_;
  std::string name_ = unique_queue("stuck");
  Log log_{};
  Client direct_;
  Queue<> queue_{direct_, name_};
  ChaosProxy proxy_;
  std::unique_ptr<Client> far_;
  std::unique_ptr<Queue<>> far_queue_;
  Runs runs_;
  Gate gate_;
  std::string dead_;
  std::string failing_;
  std::vector<std::string> ids_;
  bool second_ = false;
  bool done_ = false;
  std::chrono::steady_clock::time_point stuck_since_{};
  std::chrono::steady_clock::duration took_{};
  std::unique_ptr<Worker> worker_;
};

class StuckCall : public Chaos {};

// All at once, since each of them waits most of the time.
TEST_F(StuckCall, P27_InEachLoopOfAWorkerHoldsUpNoneForLong) {
  std::vector<std::unique_ptr<StuckScene>> scenes;
  const auto stuck = [&](const std::string& call, std::size_t after, const std::string& data,
                         const JobOptions& how = {}) {
    scenes.push_back(std::make_unique<StuckScene>(server, hasty(), call, after, data, how));
  };
  stuck("job/claim", 0, "plain");
  stuck("HMGET", 0, "plain");
  stuck("job/finish", 0, "plain");
  stuck("job/retry", 0, "fails", {.attempts = 2});
  stuck("job/progress", 0, "report");
  stuck("job/extend", 0, "hold");
  stuck("job/promote", 0, "plain", {.delay = 200ms});
  stuck("BZPOPMIN", 0, "plain");
  stuck("ZRANGEBYSCORE", 0, "plain");  // the sweeper looks for expired leases
  stuck("job/recover", 0, "dead");
  stuck("SSCAN", 0, "plain");  // the evictor looks for trash
  stuck("job/evict", 0, "plain");
  stuck("$4\r\nTIME\r\n", 3, "plain");  // the clock, behind the three samples of a connection
  stuck("node/lease", 1, "plain");      // the renewal, behind the grant
  EXPECT_TRUE(eventually(
      [&] {
        bool all = true;
        for (const auto& scene : scenes) all = scene->step() && all;
        return all;
      },
      15s));
  for (const auto& scene : scenes) scene->expect_well();
  for (const auto& scene : scenes) scene->stop();
}

}  // namespace
}  // namespace echomq::test

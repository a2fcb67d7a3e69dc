// SPDX-License-Identifier: MIT
// run_until() as a process meets it: signals in, an exit code out.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Signalled : public LibraryTest {
 protected:
  // A worker process of this queue; `more` is further arguments of it.
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"url=" + server.url(), "queue=" + name,
                                 "journal=" + folder.file("journal")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] bool began(const std::string& id) const {
    return content_of(folder.file("journal")).find(id + " ") != std::string::npos;
  }

  Folder folder;
};

TEST_F(Signalled, SigtermLetsTheHandlerEndAndExitsClean) {
  const std::string id = queue.add("stop").value();
  ChildProcess worker("worker_process", arguments());
  ASSERT_TRUE(eventually([&] { return began(id); })) << worker.output();
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.output();
  EXPECT_EQ(info(id).state, JobState::completed);
  EXPECT_EQ(info(id).attempts_made, 1U);
}

TEST_F(Signalled, P26_SigtermGivesTheUnstartedBack) {
  const auto ids = add(std::vector<std::string>(50, "stop"));
  ChildProcess worker("worker_process", arguments({"concurrency=4"}));
  ASSERT_TRUE(eventually([&] { return began(ids[3]); })) << worker.output();
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.output();
  EXPECT_EQ(counts().active, 0);
  EXPECT_EQ(counts().completed, 4);
  EXPECT_EQ(texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"})),
            std::vector<std::string>(ids.begin() + 4, ids.end()));
  for (std::size_t i = 4; i < ids.size(); ++i) {
    EXPECT_EQ(info(ids[i]).attempts_made, 0U);
    EXPECT_EQ(info(ids[i]).attempts_started, 0U);
  }
}

TEST_F(Signalled, HandlerThatIgnoresTheStopIsNamedAndTheExitCodeIsTwo) {
  const std::string id = queue.add("hold " + folder.file("never")).value();
  ChildProcess worker("worker_process", arguments({"grace=200", "lease=2000"}));
  ASSERT_TRUE(eventually([&] { return began(id); })) << worker.output();
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(10s), 2) << worker.output();
  EXPECT_NE(worker.output().find("still running after the grace: " + id), std::string::npos)
      << worker.output();
  // Its job is not lost: the lease ends, and another worker runs it.
  Worker heir{queue, {.lease = 2s}, [](Job<>&) { return "by the heir"; }};
  EXPECT_TRUE(eventually([&] { return info(id).state == JobState::completed; }, 12s));
  EXPECT_EQ(info(id).result, "by the heir");
  EXPECT_EQ(info(id).crashes, 1U);
}

TEST_F(Signalled, SecondSignalEndsTheGrace) {
  const std::string id = queue.add("hold " + folder.file("never")).value();
  ChildProcess worker("worker_process", arguments({"grace=600000"}));
  ASSERT_TRUE(eventually([&] { return began(id); })) << worker.output();
  worker.signal(SIGTERM);
  EXPECT_FALSE(eventually([&] { return worker.ended().has_value(); }, 200ms));
  worker.signal(SIGINT);
  EXPECT_EQ(worker.wait(10s), 2) << worker.output();
  EXPECT_NE(worker.output().find(id), std::string::npos) << worker.output();
}

TEST_F(Signalled, StoppedByAnErrorExitsOne) {
  ASSERT_TRUE(queue.open());
  set_meta("version", "echomq:3.0.0");
  ChildProcess worker("worker_process", arguments());
  EXPECT_EQ(worker.wait(), 1);
  EXPECT_NE(worker.output().find("fence"), std::string::npos) << worker.output();
}

TEST_F(Signalled, DrainedExitsZero) {
  add_many(20);
  ChildProcess worker("worker_process", arguments({"drain", "concurrency=3"}));
  EXPECT_EQ(worker.wait(), 0) << worker.output();
  EXPECT_EQ(counts().completed, 20);
}

}  // namespace
}  // namespace echomq::test

// SPDX-License-Identifier: MIT
// Every example is run, and says at its end what it should have seen. Twice each on the same
// server, because a reader will do that too.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "digest.h"
#include "echomq/echomq.h"
#include "live/example/program.h"
#include "support/raw_client.h"
#include "support/sanitizer.h"
#include "support/wanted.h"

namespace echomq_test {
namespace {

using namespace std::chrono_literals;

// One server for all: a cluster node takes seconds to start, and the examples share no queue.
class ExampleTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto server = echomq::Embedded::start(
        {.cluster_enabled = echomq::test::clusters_wanted(), .temporary = true});
    ASSERT_TRUE(server) << server.error().message();
    server_.emplace(*std::move(server));
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override { ASSERT_TRUE(server_.has_value()); }

  [[nodiscard]] static std::string url() { return server_->url(); }

  // Runs an example with the server's URL as its argument.
  Ran run(const std::string& name) {
    Program program{folder_.path(), name, {url()}};
    return program.wait();
  }

  void expect_twice(const std::string& name, const std::string& last_line) {
    for (const char* time : {"first", "second"}) {
      const auto ran = run(name);
      EXPECT_EQ(ran.code, 0) << time << " run\n" << ran.out << ran.err;
      EXPECT_EQ(ran.last_line(), last_line) << time << " run\n" << ran.out << ran.err;
    }
  }

  Folder folder_;
  inline static std::optional<echomq::Embedded> server_;
};

TEST_F(ExampleTest, Hello) {
  for (int time = 0; time < 2; ++time) {
    Program program{folder_.path(), "hello", {}, {{"EMQ_URL", url()}}};
    const auto ran = program.wait();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "cat.png, 200 pixels wide\n");
  }
}

// What the README promises: no server set up, nothing configured.
TEST(ExampleWithoutServer, HelloStartsItsOwn) {
  const Folder home;
  Program program{home.path(),
                  "hello",
                  {},
                  {{"EMQ_URL", ""}, {"HOME", home.path()}, {"XDG_STATE_HOME", home.path()}}};
  const auto ran = program.wait();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "cat.png, 200 pixels wide\n");
  EXPECT_TRUE(eventually([&] { return processes_with(home.path()).empty(); }))
      << "the private server outlived its owner";
}

TEST_F(ExampleTest, ProducerOptions) {
  expect_twice(
      "producer_options",
      "plain before urgent before relaxed: yes; flaky took 3 attempts; delayed waited: yes; "
      "invoice-42 ran 1 time(s)");
}

TEST_F(ExampleTest, Outcomes) {
  expect_twice("outcomes",
               "runs=8 done=completed/1 fail=failed/2 throw=failed/2 unrecoverable=failed/1 "
               "later=completed/1 value=completed/1 error=failed/1");
}

TEST_F(ExampleTest, Manage) {
  expect_twice("manage",
               "last one two three soon; retried 4, removed 5; 0 older than a day, drained 3; "
               "ended 5");
}

TEST_F(ExampleTest, Limits) {
  expect_twice("limits", "held once, never more than 2 at a time: yes");
}

TEST_F(ExampleTest, Consumer) {
  expect_twice("consumer", "3 completed, 2 failures, 1 let go; waiting 1, active 0");
}

TEST_F(ExampleTest, Deduplication) {
  expect_twice("deduplication", "done: report of 9:00, reminder, report of 9:03, build 3");
}

TEST_F(ExampleTest, NightlyReport) {
  expect_twice("nightly_report", "4 reports, one for each tick: yes");
}

TEST_F(ExampleTest, FanOut) { expect_twice("fan_out", "9 pages in 3 chapters, 2 left out"); }

TEST_F(ExampleTest, Testing) { expect_twice("testing", "6 checks, 0 failed"); }

TEST_F(ExampleTest, Typed) { expect_twice("typed", "1200 400 wrong_state wrong_state"); }

TEST_F(ExampleTest, AsyncAdd) {
  expect_twice("async_add", "1000 added by callback, 10 by future, 1010 worked");
}

TEST_F(ExampleTest, Events) {
  expect_twice("events", "kitchen closed until tomorrow; cake: completed, not kept");
}

TEST_F(ExampleTest, AsioLoop) {
  for (int time = 0; time < 2; ++time) {
    const auto ran = run("asio_loop");
    EXPECT_EQ(ran.code, 0) << ran.err;
    // What stays undone waits for the next run's worker.
    EXPECT_EQ(ran.last_line().rfind("50 added, ", 0), 0U) << ran.out << ran.err;
  }
}

TEST_F(ExampleTest, AsioLoopStopsBySigterm) {
  auto mq = echomq::connect(url()).value();
  echomq::Queue<> requests{mq, "requests"};
  ASSERT_TRUE(requests.open());
  const auto before = requests.counts().value().completed;
  Program program{folder_.path(), "asio_loop", {url()}};
  ASSERT_TRUE(eventually([&] { return requests.counts().value().completed > before; }));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().code, 0);
}

TEST_F(ExampleTest, QtLoop) {
  if (echomq::test::kThreadSanitizer)
    GTEST_SKIP() << "Qt's library is not built for ThreadSanitizer, which cannot see its locks";
  expect_twice("qt_loop", "50 added, 50 finished");
}

class ExampleService : public ExampleTest {
 protected:
  // A page that is being rendered: a handler that takes a second.
  std::string page_in_work(const Program& program) {
    EXPECT_TRUE(eventually([&] { return program.out().find("ready") != std::string::npos; }))
        << program.err();
    const auto id = pages_.add("a page").value();
    EXPECT_TRUE(eventually([&] {
      return pages_.job(id).value().state == echomq::JobState::active;
    })) << program.err();
    return id;
  }

  echomq::Client mq_ = echomq::connect(url()).value();
  echomq::Queue<> pages_{mq_, "service-pages"};
};

TEST_F(ExampleService, GivesBackWhatItWorksOnBySigterm) {
  Program program{folder_.path(), "service", {url()}};
  const auto id = page_in_work(program);
  program.signal(SIGTERM);
  const auto ran = program.wait();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.last_line(), "rendered 0, mailed 0");
  const auto job = pages_.job(id).value();
  EXPECT_EQ(job.state, echomq::JobState::waiting) << "its handler gave it back";
  EXPECT_EQ(job.attempts_made, 0U);

  Program next{folder_.path(), "service", {url()}};
  EXPECT_TRUE(
      eventually([&] { return pages_.job(id).value().state == echomq::JobState::completed; }));
  next.signal(SIGTERM);
  EXPECT_EQ(next.wait().code, 0);
}

TEST_F(ExampleService, OneQueueThatIsRefusedEndsAllOfIt) {
  if (echomq::test::least_privilege_wanted()) GTEST_SKIP() << echomq::test::kServersOfItsOwn;
  Program program{folder_.path(), "service", {url()}};
  page_in_work(program);
  echomq::test::RawClient redis(url().substr(std::string("unix://").size()));
  const std::string meta = "emq:{service-mails}:meta";
  redis({"HSET", meta, "version", "bullmq:5.65.1"});
  const auto ran = program.wait();
  redis({"HSET", meta, "version", "echomq:2.0.0"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_NE(ran.err.find("service: fence: "), std::string::npos) << ran.err;
}

TEST_F(ExampleTest, ServiceWithoutServerSaysSo) {
  Program program{folder_.path(), "service", {"unix://" + folder_.path() + "/nobody.sock"}};
  const auto ran = program.wait();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("service: unavailable: "), std::string::npos) << ran.err;
}

TEST(ExampleWithoutServer, EmbeddedKeepsWhatWasAdded) {
  const Folder folder;
  for (int time = 0; time < 2; ++time) {
    Program program{folder.path(), "embedded", {folder.path() + "/own"}};
    const auto ran = program.wait();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.last_line(), "after a restart: remember me") << ran.out;
  }
  EXPECT_TRUE(eventually([&] { return processes_with(folder.path()).empty(); }));
}

TEST_F(ExampleTest, EveryExampleSaysWhenThereIsNoServer) {
  // All at once, because each tries for as long as connect() does.
  const std::string nobody = "unix://" + folder_.path() + "/nobody.sock";
  std::map<std::string, Program> programs;
  for (const std::string name : {"producer_options", "outcomes", "async_add"})
    programs.try_emplace(name, folder_.path(), name, std::vector<std::string>{nobody});
  for (auto& [name, program] : programs) {
    const auto ran = program.wait();
    EXPECT_EQ(ran.code, 1) << name;
    EXPECT_EQ(ran.err.rfind(name + ": unavailable: ", 0), 0U) << ran.err;
  }
}

TEST_F(ExampleTest, DigestWorkerStoresDigestsAndEndsBySigterm) {
  auto mq = echomq::connect(url()).value();
  echomq::Queue<> files{mq, "papers"};
  const auto path = folder_.noise("paper", 200'000);
  const auto good = files.add(path).value();
  const auto bad = files.add(folder_.path() + "/nowhere", {.attempts = 2}).value();

  Program worker{folder_.path(),
                 "digest_worker",
                 {"--url", url(), "--queue", "papers", "--name", "clerk", "--lease", "5"}};
  ASSERT_TRUE(eventually([&] {
    const auto counts = files.counts().value();
    return counts.completed == 1 && counts.failed == 1;
  })) << worker.err();
  worker.signal(SIGTERM);
  const auto ran = worker.wait();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.last_line(), "completed 1, failed 1, recovered 0");

  const auto done = files.job(good).value();
  EXPECT_EQ(done.worker, "clerk");
  ASSERT_TRUE(done.result);
  EXPECT_EQ(echomq::Codec<example::Digest>::decode(*done.result).value(),
            example::digest_file(path).value());
  const auto failed = files.job(bad).value();
  EXPECT_EQ(failed.attempts_made, 2U);
  EXPECT_NE(failed.failed_reason.find("No such file or directory"), std::string::npos)
      << failed.failed_reason;
}

TEST_F(ExampleTest, DigestWorkerRefusesAnOwnerThatIsNotItsParent) {
  Program worker{
      folder_.path(), "digest_worker", {"--url", url(), "--owner", std::to_string(::getppid())}};
  const auto ran = worker.wait();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("its owner, is gone"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace echomq_test

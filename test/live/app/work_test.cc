// SPDX-License-Identifier: MIT
// emq work: what a command gets, what its end means to the job, and that it never outlives its
// worker.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/deadline.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class EmqWork : public EmqTest {
 protected:
  // Works the queue until it is empty.
  EmqRun drain(const std::string& command, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"work", name, "--exec", command, "--drain", "--json"});
    return emq(more);
  }

  // A worker whose command has begun: after `first` it writes its own process id to the file
  // "began".
  EmqProcess& begin(const std::string& first, const std::string& command,
                    std::vector<std::string> more = {}) {
    std::filesystem::remove(file("began"));
    more.insert(more.begin(), {"work", name, "--json", "--exec",
                               first + "; echo $$ > '" + file("began.new") + "'; mv '" +
                                   file("began.new") + "' '" + file("began") + "'; " + command});
    running_.emplace(more, how());
    EXPECT_TRUE(eventually([this] { return std::filesystem::exists(file("began")); }))
        << running_->err();
    return *running_;
  }

  // Ended, and nothing left of it but perhaps the entry that its parent has not read.
  [[nodiscard]] static bool is_gone(const std::string& pid) {
    const auto stat = content_of("/proc/" + pid + "/stat");
    const auto state = stat.rfind(") ");
    return state == std::string::npos || stat[state + 2] == 'Z' || stat[state + 2] == 'X';
  }
  [[nodiscard]] std::string pid_in(const std::string& file_name) const {
    auto text = content_of(file(file_name));
    return text.substr(0, text.find('\n'));
  }

 private:
  std::optional<EmqProcess> running_;
};

TEST_F(EmqWork, DataOnStdinAndTheRestInTheEnvironment) {
  const std::string id = queue.add(std::string("a\0b\n", 4), {.name = "send it"}).value();
  EmqHow with;
  with.environment = {{"EMQ_ID", "an older one"}, {"OURS", "stays"}};
  const auto run = emq({"work", name, "--drain", "--json", "--exec",
                        "printf '%s|%s|%s|%s|%s|' \"$EMQ_QUEUE\" \"$EMQ_ID\" \"$EMQ_NAME\" "
                        "\"$EMQ_ATTEMPT\" \"$OURS\"; cat"},
                       with);
  EXPECT_EQ(run.code, 0) << run.err;
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::completed);
  EXPECT_EQ(job.result, name + "|" + id + "|send it|1|stays|" + job.data);
  const auto lines = run.json_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("id"), id);
  EXPECT_EQ(lines[0].at("name"), "send it");
  EXPECT_EQ(lines[0].at("attempt"), 1);
  EXPECT_EQ(lines[0].at("outcome"), "done");
  EXPECT_EQ(lines[0].at("exit"), 0);
  EXPECT_TRUE(lines[0].at("signal").is_null());
  EXPECT_EQ(lines[1].at("summary").at("completed"), 1);
}

TEST_F(EmqWork, OtherExitStatusIsAFailedAttemptWithTheLastWords) {
  const std::string id = queue.add("x", {.attempts = 2}).value();
  const auto run = drain("seq 100 >&2; printf 'last \\377 words\\n' >&2; exit 3");
  EXPECT_EQ(run.code, 0) << run.err;
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.attempts_made, 2U);
  EXPECT_EQ(job.failed_reason.rfind("exit status 3: 82\n83\n", 0), 0U) << job.failed_reason;
  EXPECT_NE(job.failed_reason.find("100\nlast \xEF\xBF\xBD words"), std::string::npos)
      << job.failed_reason;
  const auto lines = run.json_lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].at("outcome"), "fail");
  EXPECT_EQ(lines[1].at("attempt"), 2);
  EXPECT_EQ(lines[1].at("exit"), 3);
  EXPECT_EQ(lines[2].at("summary").at("retried"), 1);
  EXPECT_EQ(lines[2].at("summary").at("failed"), 1);
}

TEST_F(EmqWork, ExitStatus65IsUnrecoverable) {
  const std::string id = queue.add("x", {.attempts = 9}).value();
  EXPECT_EQ(drain("echo 'bad data' >&2; exit 65").json_lines().at(0).at("outcome"),
            "unrecoverable");
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.attempts_made, 1U);
  EXPECT_EQ(job.failed_reason, "exit status 65: bad data");
}

TEST_F(EmqWork, ExitStatus75IsARetryThatSpendsNoAttempt) {
  const std::string id = queue.add("x").value();
  const auto run =
      drain("[ -e '" + file("second") + "' ] && exit 0; touch '" + file("second") + "'; exit 75",
            {"--retry-delay", "300ms"});
  ASSERT_EQ(run.json_lines().size(), 3U) << run.out << run.err;
  EXPECT_EQ(run.json_lines()[0].at("outcome"), "retry");
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::completed);
  EXPECT_EQ(job.attempts_made, 1U);
  EXPECT_EQ(job.attempts_started, 2U);
  // The second attempt began after the delay.
  EXPECT_GE(job.processed_ms, job.added_ms + 300);
}

TEST_F(EmqWork, AJobThatIsPutOffAgainAndAgainFailsAtItsLastStart) {
  const std::string id = queue.add("x").value();
  const auto run = drain("exit 75", {"--retry-delay", "10ms", "--max-starts", "3"});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.attempts_started, 3U);
}

TEST_F(EmqWork, DeathByASignalIsAFailedAttempt) {
  const std::string id = queue.add("x").value();
  const auto line = drain("kill -9 $$").json_lines().at(0);
  EXPECT_EQ(line.at("signal"), 9);
  EXPECT_TRUE(line.at("exit").is_null());
  EXPECT_EQ(info(id).failed_reason.rfind("killed by signal 9", 0), 0U) << info(id).failed_reason;
}

TEST_F(EmqWork, CommandThatIsNotThere) {
  const std::string id = queue.add("x").value();
  drain("/no/such/program");
  EXPECT_EQ(info(id).failed_reason.rfind("exit status 127: ", 0), 0U) << info(id).failed_reason;
}

// Pipes hold 64 KiB. Whoever fills one while the other side does the same must not wait for ever,
// and a command that reads nothing must not end the worker.
TEST_F(EmqWork, LargeInputAndOutputPassEachOther) {
  const std::string large(900'000, 'x');
  const auto unread = queue.add(large).value();
  EXPECT_EQ(drain("exit 0").code, 0);
  EXPECT_EQ(info(unread).state, JobState::completed);
  const auto closed = queue.add(large).value();
  EXPECT_EQ(drain("exec <&-; sleep 0.1; echo done").code, 0);
  EXPECT_EQ(info(closed).result, "done\n");
  const auto both = queue.add(large).value();
  EXPECT_EQ(drain("head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2; wc -c").code, 0);
  ASSERT_TRUE(info(both).result);
  EXPECT_EQ(info(both).result->substr(200'000), "900000\n");
  EXPECT_EQ(info(both).result->size(), 200'007U);
}

TEST_F(EmqWork, ResultOverTheLimitFails) {
  const auto fits = queue.add("x").value();
  drain("head -c 262144 /dev/zero");
  EXPECT_EQ(info(fits).state, JobState::completed);
  const auto over = queue.add("x").value();
  drain("head -c 262145 /dev/zero");
  EXPECT_EQ(info(over).state, JobState::failed);
  EXPECT_NE(info(over).failed_reason.find("262144"), std::string::npos) << info(over).failed_reason;
}

TEST_F(EmqWork, WhatTheCommandLeavesBehindIsKilled) {
  const std::string id = queue.add("x").value();
  EXPECT_EQ(drain("sleep 1000 & echo $! > '" + file("left") + "'; echo out").code, 0);
  EXPECT_EQ(info(id).result, "out\n");
  EXPECT_TRUE(eventually([this] { return is_gone(pid_in("left")); }));
}

TEST_F(EmqWork, P26_SignalGivesTheJobBackAndSpendsNoAttempt) {
  const std::string id = queue.add("x").value();
  const auto behind = queue.add("y").value();
  auto& worker = begin("true", "sleep 1000");
  worker.signal(SIGTERM);
  const auto run = worker.wait();
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json_lines().at(0).at("outcome"), "retry");
  EXPECT_TRUE(is_gone(pid_in("began")));
  EXPECT_EQ(info(id).state, JobState::waiting);
  EXPECT_EQ(info(id).attempts_made, 0U);
  EXPECT_EQ(info(behind).state, JobState::waiting);
  EXPECT_EQ(info(behind).attempts_started, 0U);
}

TEST_F(EmqWork, CommandMayFinishInItsGrace) {
  const std::string id = queue.add("x").value();
  auto& worker = begin("trap 'echo in time; exit 0' TERM", "while :; do sleep 0.05; done");
  worker.signal(SIGINT);
  EXPECT_EQ(worker.wait().code, 0);
  EXPECT_EQ(info(id).state, JobState::completed);
  EXPECT_EQ(info(id).result, "in time\n");
}

TEST_F(EmqWork, CommandThatWillNotEndIsKilledAfterTheGrace) {
  const std::string id = queue.add("x").value();
  auto& worker = begin("trap '' TERM", "while :; do sleep 0.05; done", {"--grace", "200ms"});
  worker.signal(SIGTERM);
  const auto run = worker.wait();
  EXPECT_EQ(run.code, 7) << run.err;
  EXPECT_EQ(run.json_lines().at(0).at("signal"), 9);
  EXPECT_TRUE(is_gone(pid_in("began")));
  EXPECT_EQ(info(id).state, JobState::waiting);
  EXPECT_EQ(info(id).attempts_made, 0U);
}

TEST_F(EmqWork, SecondSignalEndsTheGrace) {
  const std::string id = queue.add("x").value();
  auto& worker = begin("trap 'touch \"" + file("asked") + "\"' TERM",
                       "while :; do sleep 0.05; done", {"--grace", "1h"});
  worker.signal(SIGTERM);
  ASSERT_TRUE(eventually([this] { return std::filesystem::exists(file("asked")); }));
  worker.signal(SIGTERM);
  const auto run = worker.wait();
  EXPECT_EQ(run.code, 7) << run.err;
  EXPECT_TRUE(is_gone(pid_in("began")));
  EXPECT_EQ(info(id).state, JobState::waiting);
  EXPECT_TRUE(run.json_lines().back().contains("summary")) << run.out;
}

// The next worker has the job after the lease; the command of the dead one must not go on beside
// it.
TEST_F(EmqWork, B24_KilledWorkerLeavesNoCommandBehind) {
  const std::string id = queue.add("x").value();
  auto& worker = begin("trap '' TERM", "while :; do sleep 0.05; done", {"--lease", "2s"});
  worker.signal(SIGKILL);
  EXPECT_EQ(worker.wait().code, 128 + SIGKILL);
  EXPECT_TRUE(eventually([this] { return is_gone(pid_in("began")); }));
  const auto run = drain("cat", {"--lease", "2s"});
  EXPECT_EQ(run.json_lines().back().at("summary").at("recovered"), 1);
  EXPECT_EQ(info(id).result, "x");
  EXPECT_EQ(info(id).crashes, 1U);
}

TEST_F(EmqWork, SeveralAtOnce) {
  add_many(4);
  // Each waits for all four.
  const auto run = drain("echo x >> '" + file("there") + "'; while [ $(wc -l < '" + file("there") +
                             "') -lt 4 ]; do sleep 0.02; done",
                         {"--concurrency", "4", "--name", "the four"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(counts().completed, 4);
  EXPECT_EQ(info(run.json_lines().at(0).at("id")).worker, "the four");
}

// It may be killed between the start of a command and what it tells the warden of it.
TEST_F(EmqWork, B24_WorkerKilledWhileItStartsCommandsLeavesNoneBehind) {
  for (int round = 0; round < 10; ++round) {
    const auto began = file("began" + std::to_string(round));
    std::filesystem::create_directory(began);
    for (int i = 0; i < 8; ++i) queue.add("x").value();
    EmqProcess worker({"work", name, "--concurrency", "8", "--exec",
                       "trap '' TERM; : > '" + began + "'/$$; while :; do sleep 0.05; done"},
                      how());
    ASSERT_TRUE(eventually([&] { return !std::filesystem::is_empty(began); })) << worker.err();
    worker.signal(SIGKILL);
    ASSERT_EQ(worker.wait().code, 128 + SIGKILL);
    ASSERT_TRUE(eventually([&] {
      const std::filesystem::directory_iterator all(began);
      return std::all_of(
          std::filesystem::begin(all), std::filesystem::end(all),
          [](const auto& entry) { return is_gone(entry.path().filename().string()); });
    })) << round;
    ASSERT_TRUE(queue.obliterate({.force = true}));
  }
}

TEST_F(EmqWork, QuietButForASummaryWhereNobodyWatches) {
  queue.add("x", {.name = "seen"}).value();
  const auto quiet = emq({"work", name, "--exec", "true", "--drain"});
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, "completed 1, failed 0, retried 0, recovered 0\n");
  const std::string id = queue.add("x", {.name = "seen"}).value();
  EXPECT_EQ(emq({"work", name, "--exec", "true", "--drain", "--verbose"})
                .out.rfind("done           " + id + "  seen  attempt 1", 0),
            0U);
}

// A full disk under the journal is no failure of the job.
TEST_F(EmqWork, WorkGoesOnWhereNothingCanBePrinted) {
  std::int64_t done = 0;
  for (const char* form : {"--json", "--verbose"}) {
    add_many(3);
    done += 3;
    EmqHow full;
    full.out_file = "/dev/full";
    EXPECT_EQ(emq({"work", name, "--exec", "true", "--drain", form}, full).code, 1);
    EXPECT_EQ(counts().completed, done) << form;
    EXPECT_EQ(counts().failed, 0);
  }
}

TEST_F(EmqWork, BadValuesAreNamed) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--concurrency", "0"},
                                                        {"--concurrency", "10001"},
                                                        {"--lease", "1s"},
                                                        {"--grace", "soon"},
                                                        {"--max-crashes", "1001"},
                                                        {"--retry-delay", "-1s"},
                                                        {"--max-starts", "0"},
                                                        {"--keep-failed", "some"},
                                                        {"--exec", " "}}) {
    std::vector<std::string> line{"work", name, "--json", option, value};
    if (option != "--exec") line.insert(line.end(), {"--exec", "true"});
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << option;
    EXPECT_EQ(run.error().at("option"), option);
    EXPECT_EQ(run.error().at("value"), value);
  }
}

}  // namespace
}  // namespace echomq::test

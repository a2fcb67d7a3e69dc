// SPDX-License-Identifier: MIT
// emq doctor: what it finds, and that it only reads.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "echomq/doctor.h"
#include "echomq/echomq.h"
#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

const Finding& finding_of(const DoctorReport& report, const std::string& what,
                          const std::string& queue = {}) {
  for (const auto& finding : report.findings)
    if (finding.what == what && finding.queue == queue) return finding;
  throw std::runtime_error("nothing is told of " + what + " of " + queue);
}

class Doctor : public testing::Test {
 protected:
  DoctorReport report(const DoctorOptions& options = {}) {
    return examine(server.administrators_url(), options).value();
  }

  const TestServer server{{.appendonly = true, .cluster = false}};
  RawClient redis = server.connect();
  Client client = connect(server.url()).value();
  Queue<> queue{client, "mail"};
};

// The commands that a server counts, so far.
std::map<std::string, std::string> calls(RawClient& redis) {
  std::map<std::string, std::string> all;
  std::istringstream lines(redis({"INFO", "commandstats"}).text);
  for (std::string line; std::getline(lines, line);)
    if (const auto colon = line.find(':'); colon != std::string::npos)
      all[line.substr(0, colon)] = line.substr(colon, line.find(',') - colon);
  return all;
}

TEST_F(Doctor, ReadsOnly) {
  ASSERT_TRUE(queue.add("one"));
  ASSERT_TRUE(queue.add("later", {.delay = 1h}));
  client.close();
  const auto content = dump_all(redis);
  redis({"CONFIG", "RESETSTAT"});
  const auto found = report();
  EXPECT_LE(found.worst(), Health::warning);
  const std::set<std::string> reads{
      "client|setname", "client|id", "auth",   "hello",   "info",      "config|get",
      "ping",           "time",      "get",    "hget",    "hmget",     "hgetall",
      "hlen",           "hscan",     "exists", "zrange",  "zrevrange", "zcard",
      "zcount",         "zscore",    "lindex", "llen",    "lrange",    "lpos",
      "sismember",      "xrevrange", "scan",   "hexists", "select",    "config|resetstat"};
  for (const auto& [command, count] : calls(redis))
    EXPECT_TRUE(reads.contains(command.substr(std::string("cmdstat_").size()))) << command;
  EXPECT_EQ(difference(content, dump_all(redis)), "");
}

TEST_F(Doctor, SaysOfEachThingWhatIsSo) {
  ASSERT_TRUE(queue.add("one"));
  const auto all = report();
  for (const auto* const what : {"version", "persistence", "eviction", "connections", "replication",
                                 "clock", "latency", "wire", "queues"})
    EXPECT_EQ(finding_of(all, what).health, Health::good) << what << finding_of(all, what).found;
  for (const auto* const what :
       {"fence", "oldest waiting job", "leases", "timers", "orphans", "parents"})
    EXPECT_EQ(finding_of(all, what, "mail").health, Health::good)
        << what << ": " << finding_of(all, what, "mail").found;
  // Without a limit the system would decide.
  EXPECT_EQ(finding_of(all, "memory").health, Health::warning);
  EXPECT_NE(finding_of(all, "memory").advice.find("maxmemory"), std::string::npos);
}

TEST_F(Doctor, FindsAServerThatMayLoseJobs) {
  redis({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  redis({"CONFIG", "SET", "appendonly", "no"});
  redis({"CONFIG", "SET", "save", ""});
  redis({"CONFIG", "SET", "maxmemory", "1mb"});
  const auto all = report();
  for (const auto* const what : {"eviction", "persistence", "memory"}) {
    EXPECT_EQ(finding_of(all, what).health, Health::bad) << what;
    EXPECT_NE(finding_of(all, what).advice, "") << what;
  }
  EXPECT_EQ(all.worst(), Health::bad);
}

TEST_F(Doctor, FindsAQueueOfAnotherWire) {
  ASSERT_TRUE(queue.add("one"));
  redis({"HSET", key("mail", Structure::meta), "version", "bullmq:5.65.1"});
  EXPECT_EQ(finding_of(report(), "fence", "mail").health, Health::bad);
  EXPECT_EQ(finding_of(report(), "fence", "mail").found, "the queue is of bullmq:5.65.1");
  redis({"HSET", key("mail", Structure::meta), "version", "echomq:2.0.0"});
  redis({"SET", key("mail", Structure::id), "17"});
  EXPECT_EQ(finding_of(report(), "fence", "mail").found, "emq:{mail}:id was overwritten");
  redis({"DEL", key("mail", Structure::meta)});
  EXPECT_EQ(finding_of(report(), "fence", "mail").health, Health::warning);
}

TEST_F(Doctor, FindsOrphansOfBothKinds) {
  const auto gone = queue.add("gone").value().id;
  ASSERT_TRUE(queue.add("there"));
  redis({"DEL", job_key("mail", gone)});
  auto found = finding_of(report(), "orphans", "mail");
  EXPECT_EQ(found.health, Health::warning);
  EXPECT_EQ(found.found.substr(0, 43), "1 ids without a job and 0 jobs in no state ");
  EXPECT_NE(found.found.find(gone), std::string::npos);
  redis({"DEL", key("mail", Structure::wait)});
  found = finding_of(report(), "orphans", "mail");
  EXPECT_EQ(found.found.substr(0, 43), "0 ids without a job and 1 jobs in no state ");
}

TEST_F(Doctor, FindsAStuckParent) {
  Flows flows(client);
  const auto tree =
      flows
          .add(
              {.queue = "mail", .data = "parent", .children = {{.queue = "mail", .data = "child"}}})
          .value();
  EXPECT_EQ(finding_of(report(), "parents", "mail").health, Health::good);
  redis({"DEL", job_key("mail", tree.children.at(0).id)});
  const auto found = finding_of(report(), "parents", "mail");
  EXPECT_EQ(found.health, Health::bad);
  EXPECT_EQ(found.found.find(tree.id + " is stuck: child mail:"), 0U) << found.found;
}

TEST_F(Doctor, FindsWhatNobodyWorksOn) {
  const auto id = queue.add("old").value().id;
  redis({"HSET", job_key("mail", id), "head", "1700000000000:3:job"});
  EXPECT_EQ(finding_of(report(), "oldest waiting job", "mail").health, Health::bad);
  ASSERT_TRUE(queue.pause());
  EXPECT_EQ(finding_of(report(), "oldest waiting job", "mail").health, Health::warning);
  redis({"ZADD", key("mail", Structure::delayed), "1700000000000", "late"});
  EXPECT_EQ(finding_of(report(), "timers", "mail").health, Health::bad);
  redis({"ZADD", key("mail", Structure::active), "5", "lost"});
  EXPECT_EQ(finding_of(report(), "leases", "mail").health, Health::bad);
}

// What was added long ago and became ready just now stands still for nobody.
TEST_F(Doctor, AJobThatWasPromotedJustNowIsNotSaidToStandStill) {
  const auto time = redis({"TIME"});
  const auto now = std::stoll(time.items.at(0).text) * 1'000;
  const auto added_before = [&](const std::string& id, std::chrono::milliseconds time_ago) {
    auto head = redis({"HGET", job_key("mail", id), "head"}).text;
    head.replace(0, head.find(':'), std::to_string(now - time_ago.count()));
    redis({"HSET", job_key("mail", id), "head", head});
  };
  const auto oldest = [this] { return finding_of(report(), "oldest waiting job", "mail"); };
  const auto id = queue.add("one", {.delay = 2h}).value().id;
  added_before(id, 3h);
  ASSERT_TRUE(queue.promote(id));
  EXPECT_EQ(oldest().health, Health::good) << oldest().found;
  // Its events are gone: nothing else tells that it was delayed.
  redis({"XTRIM", key("mail", Structure::events), "MAXLEN", "0"});
  EXPECT_EQ(oldest().health, Health::bad) << oldest().found;
  EXPECT_EQ(oldest().found.find(id + " has waited 3 h"), 0U) << oldest().found;
  // Just back from a run.
  added_before(id, 5h);
  EXPECT_EQ(oldest().health, Health::bad) << oldest().found;
  redis({"HSET", job_key("mail", id), "run",
         "1:1:0:" + std::to_string(now - 9'000) + ":" + std::to_string(now - 5'000) + ":7:w"});
  EXPECT_EQ(oldest().health, Health::good) << oldest().found;
}

// Those before it are young, and so is the last one of its own priority.
TEST_F(Doctor, AJobOfALowPriorityThatIsNeverReachedIsSeen) {
  ASSERT_TRUE(queue.add("urgent", {.priority = 1}));
  const auto starved = queue.add("starved", {.priority = 70'000}).value().id;
  ASSERT_TRUE(queue.add("young", {.priority = 70'000}));
  ASSERT_TRUE(queue.add("lower", {.priority = 80'000}));
  EXPECT_EQ(finding_of(report(), "oldest waiting job", "mail").health, Health::good);
  redis({"HSET", job_key("mail", starved), "head", "1700000000000:3:job"});
  const auto found = finding_of(report(), "oldest waiting job", "mail");
  EXPECT_EQ(found.health, Health::bad);
  EXPECT_EQ(found.found.find(starved + " has waited "), 0U) << found.found;
}

TEST_F(Doctor, OfAMigrationThatIsUnderWaySaysHowItGoesOn) {
  ASSERT_TRUE(queue.add("one"));
  redis({"HSET", key("mail", Structure::meta), "version", "echomq:2.0.0:migrating"});
  const auto found = finding_of(report(), "fence", "mail");
  EXPECT_EQ(found.health, Health::bad);
  for (const auto* const verb :
       {"emq migrate run mail", "emq migrate finish mail", "emq migrate abort mail"})
    EXPECT_NE(found.advice.find(verb), std::string::npos) << found.advice;
}

TEST_F(Doctor, WhatIsDeniedIsUnknown) {
  ASSERT_TRUE(queue.add("one"));
  ASSERT_EQ(show(redis({"ACL", "SETUSER", "doctor", "on", ">secret", "~*", "-@all", "+ping",
                        "+client|id", "+zrevrange", "+zcard"})),
            "OK");
  const auto all = examine("unix://doctor:secret@" + server.socket_path()).value();
  EXPECT_EQ(all.worst(), Health::unknown);
  EXPECT_EQ(finding_of(all, "version").health, Health::unknown);
  EXPECT_NE(finding_of(all, "fence", "mail").found.find("NOPERM"), std::string::npos);
}

TEST_F(Doctor, RefusesWhatItCannotLookAt) {
  EXPECT_EQ(examine(server.administrators_url(), {.sample = 0}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(examine(server.administrators_url(), {.queues = 10'001}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(examine("unix:///nowhere/emq.sock").error().code, ErrorCode::unavailable);
  EXPECT_EQ(examine("embedded:/nowhere").error().code, ErrorCode::embedded);
}

using DoctorProgram = EmqTest;

TEST_F(DoctorProgram, SaysBadByItsExitCode) {
  const TestServer well({.appendonly = true, .cluster = false});
  auto owner = well.connect();
  const auto fine = emq({"doctor", "--url", well.administrators_url()});
  EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
  EXPECT_NE(fine.out.find("good     persistence: append-only file"), std::string::npos) << fine.out;
  owner({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto bad = emq({"doctor", "--json", "--url", well.administrators_url()});
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.json().at("health"), "bad");
  EXPECT_EQ(emq({"doctor", "--sample", "0"}).code, 2);
  EXPECT_EQ(emq({"doctor", "--url", "unix:///nowhere/emq.sock"}).code, 3);
}

}  // namespace
}  // namespace echomq::test

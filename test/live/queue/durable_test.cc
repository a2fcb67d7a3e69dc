// SPDX-License-Identifier: MIT
// Adds that wait until they are safe: in replicas, or on the disk.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/fake_server.h"
#include "support/library_test.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

JobOptions confirmed(const Durability& durability) { return {.durability = durability}; }

// A primary that its replicas find at once.
class Replicated : public OwnServerTest {
 protected:
  Replicated() : OwnServerTest({.cluster = false, .extra = {"--repl-diskless-sync-delay", "0"}}) {}

  std::unique_ptr<TestServer> make_replica() {
    ServerOptions how{.cluster = false, .extra = {"--replicaof", "127.0.0.1"}};
    how.extra.push_back(std::to_string(server.open_port()));
    if (least_privilege_wanted())
      for (const auto* word : {"--masteruser", kAdministrator, "--masterauth", kAdministrator})
        how.extra.emplace_back(word);
    return std::make_unique<TestServer>(std::move(how));
  }
  [[nodiscard]] bool confirms(unsigned replicas) {
    return redis({"WAIT", std::to_string(replicas), "20000"}).integer == replicas;
  }
};

TEST_F(Replicated, AddIsInTheReplicaWhenItIsAnswered) {
  const auto replica = make_replica();
  ASSERT_TRUE(confirms(1));
  auto there = replica->connect();
  for (int i = 0; i < 50; ++i) {
    const auto id = queue.add("x", confirmed(Durability::replicated(1, 10s)));
    ASSERT_TRUE(id) << id.error().message();
    ASSERT_EQ(there({"EXISTS", job_key(name, *id)}).integer, 1) << i;
  }
}

// The bulk of a thousand needs no thousand waits.
TEST_F(Replicated, ManyAddsShareOneWait) {
  const auto replica = make_replica();
  ASSERT_TRUE(confirms(1));
  std::vector<NewJob<>> jobs(1'000, {"x", confirmed(Durability::replicated(1, 10s))});
  redis({"CONFIG", "RESETSTAT"});
  const auto results = queue.add_bulk(jobs);
  ASSERT_TRUE(results) << results.error().message();
  for (const auto& id : *results) ASSERT_TRUE(id) << id.error().message();
  const auto stats = redis({"INFO", "commandstats"}).text;
  const auto at = stats.find("cmdstat_wait:calls=");
  ASSERT_NE(at, std::string::npos) << stats;
  EXPECT_LE(std::stoi(stats.substr(at + 19)), 6) << stats.substr(at, 40);
}

TEST_F(Replicated, AddThatAStoppedReplicaDoesNotConfirmIsToldAndStays) {
  const auto replica = make_replica();
  ASSERT_TRUE(confirms(1));
  replica->stop_signal();
  const auto id = queue.add("x", confirmed(Durability::replicated(1, 200ms)));
  replica->continue_signal();
  ASSERT_EQ(error_of(id).code, ErrorCode::not_durable) << error_of(id).message();
  EXPECT_NE(error_of(id).detail.find("of 1 replica(s) 0 had it"), std::string::npos)
      << error_of(id).detail;
  EXPECT_EQ(counts().waiting, 1);
  const auto error = error_of(id);
  ASSERT_NE(error.field("value"), nullptr);
  EXPECT_TRUE(queue.job(*error.field("value")));
  EXPECT_TRUE(queue.add("y", confirmed(Durability::replicated(1, 10s))));
}

TEST_F(Replicated, MoreReplicasThanThereAreConfirmNothing) {
  const auto replica = make_replica();
  ASSERT_TRUE(confirms(1));
  const auto id = queue.add("x", confirmed(Durability::replicated(2, 1s)));
  EXPECT_EQ(error_of(id).code, ErrorCode::not_durable);
  EXPECT_NE(error_of(id).detail.find("of 2 replica(s) 1 had it"), std::string::npos)
      << error_of(id).detail;
}

TEST_F(Replicated, OtherAddsGoOnMeanwhile) {
  const auto replica = make_replica();
  ASSERT_TRUE(confirms(1));
  replica->stop_signal();
  auto slow = queue.async_add("x", confirmed(Durability::replicated(1, 20s)));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(queue.add("y"));
  EXPECT_EQ(slow.wait_for(0s), std::future_status::timeout);
  replica->continue_signal();
  const auto id = slow.get();
  EXPECT_TRUE(id) << id.error().message();
}

// The server that would confirm is not the one that took the job: it lost it.
TEST_F(Replicated, ARestartedServerConfirmsNothing) {
  const auto replica = make_replica();
  ASSERT_TRUE(confirms(1));
  ASSERT_TRUE(queue.add("warm", confirmed(Durability::replicated(1, 10s))));
  replica->stop_signal();
  auto waits = queue.async_add("x", confirmed(Durability::replicated(1, 30s)));
  ASSERT_TRUE(eventually([this] { return counts().waiting == 2; }));
  server.kill9();
  server.start();
  replica->continue_signal();
  const auto id = waits.get();
  EXPECT_EQ(error_of(id).code, ErrorCode::not_durable) << error_of(id).message();
}

TEST_F(Replicated, ADemotedServerConfirmsNothing) {
  ASSERT_TRUE(queue.add("open"));
  auto waits = queue.async_add("x", confirmed(Durability::replicated(1, 30s)));
  ASSERT_TRUE(eventually([this] { return counts().waiting == 2; }));
  redis({"REPLICAOF", "127.0.0.1", "1"});
  const auto id = waits.get();
  EXPECT_EQ(error_of(id).code, ErrorCode::not_durable) << error_of(id).message();
}

TEST_F(Replicated, ClosingTheClientEndsTheWait) {
  ASSERT_TRUE(queue.open());
  auto waits = queue.async_add("x", confirmed(Durability::replicated(1, 30s)));
  ASSERT_TRUE(eventually([this] { return counts().waiting == 1; }));
  client.close();
  const auto id = waits.get();
  EXPECT_EQ(error_of(id).code, ErrorCode::not_durable) << error_of(id).message();
}

TEST_F(Replicated, WithoutTheRightNothingIsAdded) {
  auto other = connect_with({});
  ASSERT_TRUE(other) << other.error().message();
  Queue<> same{*other, name};
  ASSERT_TRUE(same.add("plain"));
  EXPECT_EQ(error_of(same.add("x", confirmed(Durability::replicated(1)))).code, ErrorCode::denied);
  EXPECT_EQ(counts().waiting, 1);
}

class Fsynced : public OwnServerTest {
 protected:
  explicit Fsynced(ServerOptions with = {.appendonly = true, .cluster = false})
      : OwnServerTest(std::move(with)) {}
  [[nodiscard]] bool has_waitaof() { return !redis({"WAITAOF", "0", "0", "0"}).is_error(); }
};

TEST_F(Fsynced, WhereEachWriteIsSyncedTheAnswerConfirms) {
  redis({"CONFIG", "SET", "appendfsync", "always"});
  const auto id = queue.add("x", confirmed(Durability::fsynced(10s)));
  ASSERT_TRUE(id) << id.error().message();
  server.kill9();
  server.start();
  EXPECT_TRUE(eventually([&] { return queue.job(*id).ok(); }));
}

TEST_F(Fsynced, WhereNobodyCanTellNothingIsAdded) {
  ASSERT_TRUE(queue.open());
  const auto id = queue.add("x", confirmed(Durability::fsynced(10s)));
  if (has_waitaof()) {
    EXPECT_TRUE(id) << id.error().message();
    return;
  }
  EXPECT_EQ(error_of(id).code, ErrorCode::unsupported) << error_of(id).message();
  EXPECT_NE(error_of(id).detail.find("everysec"), std::string::npos) << error_of(id).detail;
  EXPECT_EQ(counts().waiting, 0);
}

TEST_F(Fsynced, SettingThatChangedMeanwhileIsSeen) {
  redis({"CONFIG", "SET", "appendfsync", "always"});
  ASSERT_TRUE(queue.add("x", confirmed(Durability::fsynced(10s))));
  redis({"CONFIG", "SET", "appendfsync", "no"});
  const auto id = queue.add("y", confirmed(Durability::fsynced(100ms)));
  if (has_waitaof()) {
    EXPECT_TRUE(id) << id.error().message();
    return;
  }
  EXPECT_EQ(error_of(id).code, ErrorCode::not_durable) << error_of(id).message();
  EXPECT_EQ(counts().waiting, 2);
}

class NoFile : public Fsynced {
 protected:
  NoFile() : Fsynced({.cluster = false}) {}
};

TEST_F(NoFile, IsRefusedBeforeAnythingIsAdded) {
  ASSERT_TRUE(queue.open());
  const auto id = queue.add("x", confirmed(Durability::fsynced(10s)));
  EXPECT_EQ(error_of(id).code, ErrorCode::config) << error_of(id).message();
  EXPECT_EQ(counts().waiting, 0);
}

// A reply as it came, arrays for maps.
std::string as_resp(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::null: return "_\r\n";
    case Reply::Kind::integer: return ":" + std::to_string(reply.integer) + "\r\n";
    case Reply::Kind::error: return "-" + reply.text + "\r\n";
    case Reply::Kind::array:
    case Reply::Kind::map: break;
    default: return "$" + std::to_string(reply.text.size()) + "\r\n" + reply.text + "\r\n";
  }
  std::string all = "*" + std::to_string(reply.items.size()) + "\r\n";
  for (const auto& item : reply.items) all += as_resp(item);
  return all;
}

// The server of today, before one that knows WAITAOF and says of it what the test wants.
class WithWaitaof : public Fsynced {
 protected:
  std::string answer(const FakeServer::Words& words) {
    if (words[0] != "WAITAOF") return as_resp(behind_(words));
    asked.push_back(words);
    return words[1] == "0" ? "*2\r\n:0\r\n:0\r\n" : says;
  }

  std::string says = "*2\r\n:1\r\n:0\r\n";
  std::vector<FakeServer::Words> asked;

 private:
  RawClient behind_ = server.connect();

 protected:
  // Last: its thread asks the others.
  FakeServer front{[this](const FakeServer::Words& words) { return answer(words); }};
};

TEST_F(WithWaitaof, AddIsAnsweredWhenTheFileIsOnTheDisk) {
  auto through = connect(front.url(), options());
  ASSERT_TRUE(through) << through.error().message();
  Queue<> same{*through, name};
  const auto id = same.add("x", confirmed(Durability::fsynced(1234ms)));
  ASSERT_TRUE(id) << id.error().message();
  through->close();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0], (FakeServer::Words{"WAITAOF", "0", "0", "0"}));
  EXPECT_EQ(asked[1][1] + " " + asked[1][2], "1 0");
  EXPECT_GT(std::stoi(asked[1][3]), 0);
  EXPECT_LE(std::stoi(asked[1][3]), 1'234);
}

TEST_F(WithWaitaof, AddThatIsNotOnTheDiskInTimeIsToldAndStays) {
  says = "*2\r\n:0\r\n:0\r\n";
  auto through = connect(front.url(), options());
  ASSERT_TRUE(through) << through.error().message();
  Queue<> same{*through, name};
  const auto id = same.add("x", confirmed(Durability::fsynced(50ms)));
  EXPECT_EQ(error_of(id).code, ErrorCode::not_durable) << error_of(id).message();
  EXPECT_NE(error_of(id).detail.find("not on the disk in time"), std::string::npos);
  EXPECT_EQ(counts().waiting, 1);
}

}  // namespace
}  // namespace echomq::test

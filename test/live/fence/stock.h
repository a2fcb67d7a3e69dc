// SPDX-License-Identifier: MIT
// A stock v1 client of npm, told what to try (test/v1/fence.mjs), and a queue with a job in each
// state for it to try that on.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"
#include "support/v1_client.h"

namespace echomq::test {

// What a client of one prefix and queue tries, one act after the other.
struct Attempts {
  std::string prefix;
  std::string queue;
  std::vector<std::string> acts;
  bool skip = false;  // it leaves `meta` alone when it is constructed
};

struct Tried {
  std::string act;
  bool ok = false;
  std::string error{};
  std::string value{};  // JSON: what it answered, of those that only look
};

// Everything that a producer or a worker does.
inline const std::vector<std::string>& all_work() {
  static const std::vector<std::string> acts{"construct",
                                             "add",
                                             "add_id",
                                             "add_delayed",
                                             "add_prioritized",
                                             "add_lifo",
                                             "add_deduplicated",
                                             "add_bulk",
                                             "add_repeat",
                                             "scheduler_every",
                                             "scheduler_cron",
                                             "flow",
                                             "fetch",
                                             "stalled",
                                             "work"};
  return acts;
}

// By target, in their order.
inline std::vector<std::vector<Tried>> try_stock(const TestServer& server,
                                                 const std::vector<Attempts>& targets,
                                                 const std::string& package = "bullmq",
                                                 const Environment& environment = {}) {
  nlohmann::json wanted = nlohmann::json::array();
  for (const auto& target : targets)
    wanted.push_back({{"prefix", target.prefix},
                      {"queue", target.queue},
                      {"skip", target.skip},
                      {"ops", target.acts}});
  ChildProcess script =
      v1_script("fence.mjs", {package, server.socket_path(), wanted.dump()}, environment);
  EXPECT_EQ(script.wait(std::chrono::seconds(60)), 0) << script.output();
  std::vector<std::vector<Tried>> tried(targets.size());
  std::istringstream lines(script.output());
  for (std::string line; std::getline(lines, line);) {
    const auto told = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!told.is_object()) continue;  // what node itself has to say
    tried.at(told.at("target").get<std::size_t>())
        .push_back({told.at("op"), told.at("ok"), told.at("error"), told.value("value", "")});
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    EXPECT_EQ(tried[i].size(), targets[i].acts.size()) << script.output();
  return tried;
}

// A server of the test's own: everything on it is compared.
class StockTest : public OwnServerTest {
 protected:
  StockTest() : OwnServerTest({.cluster = false}) {}
  void SetUp() override {
    if (const auto why = v1_clients_missing()) GTEST_SKIP() << *why;
    // Its user there has the rights of a v2 client alone, and is tested so elsewhere.
    if (std::getenv("ECHOMQ_TEST_ACL") != nullptr) GTEST_SKIP() << "v1 clients need other rights";
  }

  // What there is, without the deployment's keys: the client under test goes on.
  Dump everything() {
    auto all = dump_all(redis);
    std::erase_if(all, [](const auto& entry) { return entry.first.starts_with("{emq}:"); });
    return all;
  }

  static std::string braced(const std::string& queue) { return "{" + queue + "}"; }

  // Jobs of the names of their states, with data that a v1 client can read.
  void fill(const std::string& queue_name) {
    Queue<> filled{client, queue_name};
    ASSERT_TRUE(filled.add("{}", {.id = "done"}));
    ASSERT_TRUE(filled.add("{}", {.id = "broken"}));
    Worker worker{filled, {.stop_when_empty = true}, [](Job<>& job) -> Outcome {
                    return job.id() == "done" ? Outcome::done("1") : Outcome::fail("broken");
                  }};
    ASSERT_TRUE(worker.wait(std::chrono::seconds(20)));
    for (const auto* const id : {"first", "second", "third"})
      ASSERT_TRUE(filled.add("{}", {.id = id}));
    ASSERT_TRUE(filled.add("{}", {.priority = 1, .id = "urgent"}));
    ASSERT_TRUE(filled.add("{}", {.delay = std::chrono::hours(1), .id = "later"}));
  }
};

}  // namespace echomq::test

// SPDX-License-Identifier: MIT
// The fixture of the tests of migrations: the queues of a v1 deployment, each under a name of this
// test's own, and workers for them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "echomq/migration.h"
#include "support/flow_test.h"
#include "support/v1_fixture.h"
#include "support/wanted.h"

namespace echomq::test {

// Why migrations are left out where the library has its least privilege only.
inline constexpr const char* kMoreThanLeastPrivilege =
    "a migration reads and deletes keys of v1, to which `emq acl` gives no right";

class MigrationTest : public FlowTest {
 protected:
  void SetUp() override {
    if (least_privilege_wanted()) GTEST_SKIP() << kMoreThanLeastPrivilege;
  }
  explicit MigrationTest(TestServer& on = shared_server()) : FlowTest(on) {}
  ~MigrationTest() override {
    for (const auto& word : words_) {
      redis({"DEL", migration_key(named(word))});
      redis({"ZREM", reserve_key(Reserve::queues), named(word)});
    }
  }

  [[nodiscard]] MigrationOptions options_of(const V1Fixture& v1) {
    words_ = v1.queues();
    MigrationOptions options;
    options.prefix = v1.prefix();
    for (const auto& moved : v1.queues()) options.queues.push_back({moved, named(moved)});
    options.drain_timeout = std::chrono::milliseconds(0);
    options.watch = std::chrono::milliseconds(0);
    return options;
  }
  // Stops behind the n-th step that changes something.
  static std::function<bool(const MigrationProgress&)> stops_behind(int step) {
    return [step, at = 0](const MigrationProgress& now) mutable {
      return now.step == "looking" || ++at != step;
    };
  }
  Migration migration_of(const V1Fixture& v1) { return {client, options_of(v1)}; }

  // The jobs of the targets, whatever their state, once they are open.
  std::int64_t jobs_here() {
    std::int64_t sum = 0;
    for (const auto& word : words_) {
      const auto now = counts_of(word);
      sum += now.waiting + now.prioritized + now.delayed + now.waiting_children + now.completed +
             now.failed;
    }
    return sum;
  }

  // What the findings say that block, a line each.
  static std::string blocking(const std::vector<MigrationFinding>& findings) {
    std::string text;
    for (const auto& finding : findings)
      if (finding.blocks) text += finding.queue + " " + finding.job + ": " + finding.text + "\n";
    return text;
  }
  static std::string lines(const MigrationComparison& compared) {
    std::string text;
    for (const auto& difference : compared.differences)
      text += difference.queue + " " + difference.job + ": " + difference.text + "\n";
    return text;
  }
  // Everything of the targets, the journals too.
  Dump dump_targets() {
    Dump all;
    for (const auto& word : words_) {
      for (auto& [key, content] : dump_queue(redis, named(word))) all.emplace(key, content);
      if (redis({"EXISTS", migration_key(named(word))}).integer > 0)
        all.emplace(migration_key(named(word)), "a journal");
    }
    return all;
  }

  std::vector<std::string> words_{};
};

}  // namespace echomq::test

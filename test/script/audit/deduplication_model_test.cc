// SPDX-License-Identifier: MIT
// Deduplication against a model of it that is a few maps in memory: adds in all ways, claims, ends,
// retries, crashes, removals, hashes deleted by hand and steps of the clock, in an order that
// chance decides. After each step the scripts and the model tell of the same owner of each id,
// until the same time, with the same add kept; and each add was answered as the model would.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/script_queue.h"
#include "support/server.h"
#include "support/workload.h"

namespace echomq::test {
namespace {

enum class ModelState { waiting, delayed, active, ended, gone };

struct ModelOwner {
  std::string owner;
  std::int64_t until = 0;
  bool held = false;
  std::optional<JobToAdd> kept{};
};

class DeduplicationModel {
 public:
  DeduplicationModel(ScriptQueue& queue, std::uint32_t seed) : q_(queue), random_(seed) {
    q_.open();
  }

  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3: return add();
      case 4:
      case 5: return claim();
      case 6: return finish();
      case 7: return below(2) == 0 ? retry() : crash();
      case 8: return below(3) == 0 ? lose_hash() : remove();
      case 9: return end_owners();
      default: q_.now += static_cast<std::int64_t>(below(400)); return promote();
    }
  }

  // What differs, nothing when all is alike.
  std::string difference() {
    for (int i = 0; i < kIds; ++i) {
      const auto de = "d" + std::to_string(i);
      const auto* const mine = owner_of(de);
      const auto told = q_.read_deduplication(de, q_.owned(de).owner);
      const auto theirs = statuses(told) == "gone"
                              ? std::string("nobody")
                              : show(told.items.at(1)) + " until " + show(told.items.at(2)) +
                                    " then " + show(told.items.at(3));
      const auto expected = mine == nullptr
                                ? std::string("nobody")
                                : mine->owner + " until " + std::to_string(mine->until) + " then " +
                                      (mine->kept ? mine->kept->id : "");
      if (theirs != expected) return de + ": " + theirs + ", expected " + expected;
    }
    return wrong_;
  }

  // How often each of what may happen did.
  struct Seen {
    int stored = 0, owned = 0, replaced = 0, kept = 0, kept_added = 0;
  };
  [[nodiscard]] const Seen& seen() const { return seen_; }

 private:
  static constexpr int kIds = 4;

  std::size_t below(std::size_t limit) { return random_() % limit; }

  ModelOwner* owner_of(const std::string& de) {
    const auto found = owners_.find(de);
    if (found == owners_.end()) return nullptr;
    auto& e = found->second;
    if (e.until != 0 && q_.now >= e.until) return nullptr;
    if (e.held) return &e;
    const auto state = jobs_.at(e.owner);
    if (state == ModelState::gone) return nullptr;
    return e.until != 0 || state != ModelState::ended ? &e : nullptr;
  }

  void store(const JobToAdd& job) {
    jobs_[job.id] = job.delay == 0 ? ModelState::waiting : ModelState::delayed;
    de_of_[job.id] = job.de;
  }

  // What job/add_deduplicated shall answer for this job, and what becomes of it.
  std::string expect(const JobToAdd& job) {
    auto* const e = owner_of(job.de);
    const auto has = [&job](char c) { return job.how.find(c) != std::string::npos; };
    const auto now = q_.now;
    if (e == nullptr) {
      ++seen_.stored;
      store(job);
      owners_[job.de] = {job.id, job.ttl == 0 ? 0 : now + job.ttl};
      return "ok ";
    }
    const auto state = e->held ? ModelState::ended : jobs_.at(e->owner);
    if (has('r') && state == ModelState::delayed) {
      ++seen_.replaced;
      jobs_[e->owner] = ModelState::gone;
      const auto until = e->until != 0 && has('e') ? now + job.ttl : e->until;
      store(job);
      owners_[job.de] = {job.id, until};
      return "ok ";
    }
    if (has('k') && (state == ModelState::active || e->kept)) {
      ++seen_.kept;
      e->kept = job;
      e->until = 0;
    } else if (has('e') && e->until != 0) {
      e->until = now + job.ttl;
    }
    ++seen_.owned;
    return "owned " + e->owner;
  }

  void add() {
    static const std::vector<std::pair<std::string, bool>> ways{
        {"", false},  {"", true},   {"e", true}, {"r", false},
        {"er", true}, {"k", false}, {"k", false}};
    std::vector<JobToAdd> jobs(1 + below(3));
    std::string expected;
    std::map<std::string, std::string> seen;
    for (int i = 0; i < kIds; ++i) {
      const auto de = "d" + std::to_string(i);
      seen[de] = q_.owned(de).owner;
    }
    for (auto& job : jobs) {
      const auto& [how, timed] = ways[below(ways.size())];
      job.custom = below(2) == 0;
      job.id = (job.custom ? "j" : "") + std::to_string(next_++);
      job.de = "d" + std::to_string(below(kIds));
      job.how = how;
      job.ttl = timed ? static_cast<std::int64_t>(1 + below(900)) : 0;
      job.delay = below(2) == 0 ? static_cast<std::int64_t>(1 + below(600)) : 0;
      job.seen = seen[job.de];
      expected += expect(job) + ";";
    }
    const auto reply = q_.add_deduplicated(jobs);
    std::string told;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      told += show(reply.items.at(0).items.at(i)) + " " + show(reply.items.at(1).items.at(i)) + ";";
    if (told != expected) wrong_ = "an add was answered " + told + ", expected " + expected;
  }

  void claim() {
    const auto claimed = q_.claim(1 + below(2), {.lease_ms = 1'000, .take_crashed = false});
    for (const auto& run : claimed.runs) {
      if (jobs_.at(run.id) == ModelState::gone) {  // its hash was deleted by hand
        q_.release({{.run = run}});
        continue;
      }
      jobs_[run.id] = ModelState::active;
      runs_.push_back(run);
    }
  }

  std::optional<JobRun> take_run() {
    if (runs_.empty()) return std::nullopt;
    const auto at = runs_.begin() + static_cast<std::ptrdiff_t>(below(runs_.size()));
    const auto run = *at;
    runs_.erase(at);
    return run;
  }

  // As a worker says it: what holds for a time is told so first.
  void finish() {
    const auto run = take_run();
    if (!run) return;
    const auto& de = de_of_[run->id];
    q_.hold_deduplication({{de, run->id}});
    if (const auto e = owners_.find(de); e != owners_.end() && e->second.owner == run->id)
      e->second.held = e->second.held || e->second.until != 0;
    const bool drop = below(2) == 0;
    const bool there = jobs_.at(run->id) != ModelState::gone;
    q_.finish({{.run = *run, .completed = below(3) > 0, .drop = drop}});
    if (there) jobs_[run->id] = drop ? ModelState::gone : ModelState::ended;
    if (below(2) == 0) end_one(de);  // otherwise its worker died before it said so
  }

  void retry() {
    const auto run = take_run();
    if (!run) return;
    const auto delay = static_cast<std::int64_t>(below(2) * 100);
    q_.retry({{.run = *run, .delay = delay}});
    if (jobs_.at(run->id) != ModelState::gone)
      jobs_[run->id] = delay == 0 ? ModelState::waiting : ModelState::delayed;
  }

  // More often than is allowed, so it ends in failed; nobody says that its id holds.
  void crash() {
    const auto run = take_run();
    if (!run) return;
    q_.now += 3'000;
    q_.recover({{run->id, q_.score(q_.keys.active, run->id)}}, 0);
    if (jobs_.at(run->id) != ModelState::gone) jobs_[run->id] = ModelState::ended;
  }

  std::optional<std::string> some_job() {
    if (jobs_.empty()) return std::nullopt;
    auto at = jobs_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(jobs_.size())));
    return at->first;
  }

  void remove() {
    const auto id = below(2) == 0 ? owner_in_use() : some_job();
    if (!id || jobs_.at(*id) == ModelState::active || jobs_.at(*id) == ModelState::gone) return;
    if (statuses(q_.remove({*id})) != "ok") wrong_ = "the removal of " + *id + " was refused";
    jobs_[*id] = ModelState::gone;
    const auto e = owners_.find(de_of_[*id]);
    if (e != owners_.end() && e->second.owner == *id && !e->second.kept) owners_.erase(e);
  }

  std::optional<std::string> owner_in_use() {
    if (owners_.empty()) return std::nullopt;
    auto at = owners_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(owners_.size())));
    return at->second.owner;
  }

  void lose_hash() {
    const auto id = owner_in_use();
    if (!id || jobs_.at(*id) == ModelState::gone) return;
    q_.redis()({"DEL", q_.job(*id)});
    if (jobs_.at(*id) == ModelState::ended) {
      q_.redis()({"ZREM", q_.keys.completed, *id});
      q_.redis()({"ZREM", q_.keys.failed, *id});
    }
    jobs_[*id] = ModelState::gone;
  }

  void promote() {
    const auto due = q_.peek_due();
    if (due.empty()) return;
    q_.promote(due);
    for (const auto& job : due)
      if (jobs_.at(job.id) == ModelState::delayed) jobs_[job.id] = ModelState::waiting;
  }

  void end_one(const std::string& de) {
    const auto seen = q_.owned(de);
    if (seen.owner.empty()) return;
    q_.end_deduplication({seen});
    if (owner_of(de) != nullptr) return;
    const auto e = owners_.find(de);
    if (e == owners_.end()) return;
    const auto kept = std::move(e->second.kept);
    owners_.erase(e);
    if (!kept) return;
    ++seen_.kept_added;
    store(*kept);
    owners_[de] = {kept->id};
  }

  void end_owners() {
    for (int i = 0; i < kIds; ++i) end_one("d" + std::to_string(i));
  }

  ScriptQueue& q_;
  std::mt19937 random_;
  std::map<std::string, ModelState> jobs_;
  std::map<std::string, std::string> de_of_;
  std::map<std::string, ModelOwner> owners_;
  std::vector<JobRun> runs_;
  std::uint64_t next_ = 1'000;
  Seen seen_;
  std::string wrong_;
};

class DeduplicationModelTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(DeduplicationModelTest, OwnersAreThoseOfTheModel) {
  auto redis = shared_server().connect();
  ScriptQueue q(redis, unique_queue("dedup-model"));
  DeduplicationModel model(q, GetParam());
  for (int i = 0; i < 1'000; ++i) {
    model.step();
    ASSERT_EQ(model.difference(), "") << "step " << i;
  }
  for (const int often : {model.seen().stored, model.seen().owned, model.seen().replaced,
                          model.seen().kept, model.seen().kept_added})
    EXPECT_GE(often, 10);
  delete_queue(redis, q.name());
}

INSTANTIATE_TEST_SUITE_P(Seeds, DeduplicationModelTest, testing::Range(1U, 6U));

}  // namespace
}  // namespace echomq::test

// SPDX-License-Identifier: MIT
#include "echomq/migration.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "migrate/compare.h"
#include "migrate/delete_source.h"
#include "migrate/findings.h"
#include "migrate/key_check.h"
#include "migrate/plan.h"
#include "migrate/session.h"
#include "migrate/walk.h"

namespace echomq::inline v2 {
namespace {

using migrate::MigrationSession;
using migrate::MovingQueue;
using std::chrono::milliseconds;

// The account of one call.
class Account {
 public:
  explicit Account(MigrationSession& session) : session_(session) {}

  // What calls before this one have left out.
  void tell_left() {
    for (const auto& queue : session_.queues())
      for (const auto& [job, text] : queue.journal.left) leave(queue, job, text);
  }
  // What is left out is journalled, so that a call that goes on tells it again.
  [[nodiscard]] std::function<void(const std::string&, bool, const std::string&)> teller(
      MovingQueue& queue) {
    return [this, &queue](const std::string& job, bool left_out, const std::string& text) {
      if (!left_out) return findings_.add({.queue = queue.names.from, .job = job, .text = text});
      if (!queue.journal.left.emplace(job, text).second) return;
      leave(queue, job, text);
      if (auto noted = migrate::note_left(session_.target(), queue.names, job, text);
          !noted && !problem_)
        problem_ = noted.error();
    };
  }
  // That what was left out could not be journalled.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }
  // Counts the jobs of its chunks as this call's.
  [[nodiscard]] migrate::OnChunk counter(const MovingQueue& queue) {
    return [this, &queue](std::string_view word, std::int64_t jobs) {
      report.jobs += jobs;
      return session_.step(queue, word, jobs);
    };
  }
  MigrationReport close() {
    report.took =
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began_);
    report.longest_call = session_.source().longest();
    report.findings = findings_.close();
    return std::move(report);
  }

  MigrationReport report{};

 private:
  void leave(const MovingQueue& queue, const std::string& job, const std::string& text) {
    ++report.left;
    findings_.add({.blocks = true, .queue = queue.names.from, .job = job, .text = text});
  }

  MigrationSession& session_;
  migrate::Findings findings_{};
  std::optional<Error> problem_{};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

bool is_one_of(MigrationPhase phase, std::initializer_list<MigrationPhase> phases) {
  return std::find(phases.begin(), phases.end(), phase) != phases.end();
}

Result<void> copy(MigrationSession& session, MovingQueue& queue, Account& account) {
  auto& target = session.target();
  const auto settings = session.settings(queue);
  if (!settings) return settings.error();
  if (auto set = migrate::set_target(target, queue.names.to, *settings); !set) return set;
  if (auto stepped = session.step(queue, "settings", 0); !stepped) return stepped;
  auto stored = migrate::target_cursor(target, queue.keys);
  if (!stored) return stored.error();
  const auto from = migrate::Cursor::read(*stored);
  if (!from)
    return Error{ErrorCode::protocol,
                 queue.keys.meta + " holds a cursor of an unknown form: " + *stored,
                 {{"found", *stored}}};
  migrate::Copy sink(target, queue.names.to, *std::move(stored), session.stepper(queue),
                     account.teller(queue));
  const auto kinds = migrate::kinds_of(session.source(), queue.v1,
                                       [&] { return session.step(queue, migrate::kLooking, 0); });
  if (!kinds) return kinds.error();
  migrate::Walk walk(session.source(), session.unit(), queue.names, sink, *kinds);
  auto done = walk.jobs(*from);
  if (done) done = walk.parts(queue.journal.began_ms);
  account.report.jobs += sink.moved();
  account.report.renamed += sink.renamed();
  if (!done) return done;
  if (account.problem()) return *account.problem();
  return session.enter(queue, MigrationPhase::copied);
}

// What nobody understands has not been moved, and would stay behind.
Result<migrate::KnownKinds> check_keys(MigrationSession& session, const MovingQueue& queue,
                                       const migrate::KeyCheck::OnFound& found) {
  migrate::KeyCheck keys(session.source(), queue.v1);
  const auto readable = keys.run([&] { return session.step(queue, migrate::kLooking, 0); }, found);
  if (!readable) return readable.error();
  return keys.kinds();
}

// Of queues that were compared before, and whose source is not being deleted yet.
Result<void> check_verified(MigrationSession& session) {
  for (const auto& queue : session.queues()) {
    if (queue.journal.phase != MigrationPhase::verified) continue;
    std::string first;
    const auto note = [&first](const std::string& job, const std::string& text) {
      if (!first.empty()) return;
      if (!job.empty()) first.append("job ").append(job).append(" ");
      first.append(text);
    };
    if (auto known = check_keys(session, queue, note); !known) return known.error();
    if (!first.empty()) return migrate::wrong_phase(queue, "holds what nobody has moved: " + first);
  }
  return {};
}

Result<void> compare(MigrationSession& session, MovingQueue& queue, MigrationComparison& all) {
  const auto found_before = all.found;
  const auto differs = [&](const std::string& job, const std::string& text) {
    ++all.found;
    if (all.differences.size() < migrate::kKeptFindings)
      all.differences.push_back({queue.names.to, job, text});
  };
  const auto kinds = check_keys(session, queue, differs);
  if (!kinds) return kinds.error();
  migrate::Compare sink(session.target(), queue.names.to, session.stepper(queue), differs);
  migrate::Walk walk(session.source(), session.unit(), queue.names, sink, *kinds);
  if (auto done = walk.jobs({}); !done) return done;
  if (auto done = walk.parts(queue.journal.began_ms); !done) return done;
  const auto settings = session.settings(queue);
  if (!settings) return settings.error();
  const auto now = session.source().now_ms();
  if (!now) return now.error();
  if (auto counted = sink.count(*settings, *now); !counted) return counted;
  all.jobs += sink.compared();
  if (all.found == found_before) return session.enter(queue, MigrationPhase::verified);
  // What was alike once is not so any more, and finish() has to know.
  if (queue.journal.phase == MigrationPhase::verified)
    return session.enter(queue, MigrationPhase::copied);
  return {};
}

Result<MigrationComparison> compare_all(MigrationSession& session) {
  const auto total = session.count_source();
  if (!total) return total.error();
  session.begin_progress(*total);
  MigrationComparison all;
  for (auto& queue : session.queues())
    if (auto compared = compare(session, queue, all); !compared) return compared.error();
  return all;
}

// For a call that writes. A target in which a v1 client has written meanwhile is marked again, and
// is to be compared anew.
Result<std::unique_ptr<MigrationSession>> begin(const Client& target,
                                                const MigrationOptions& options) {
  auto session = MigrationSession::open(target, options);
  if (!session) return session;
  for (auto& queue : (*session)->queues()) {
    if (queue.journal.phase == MigrationPhase::none) continue;
    const auto again =
        migrate::reclaim_target((*session)->target(), queue.names.to, (*session)->now_ms());
    if (!again) return again.error();
    if (!*again) continue;
    if (queue.journal.phase == MigrationPhase::verified)
      if (auto entered = (*session)->enter(queue, MigrationPhase::copied); !entered)
        return entered.error();
    if (auto stepped = (*session)->step(queue, "marked again", 0); !stepped) return stepped.error();
  }
  return session;
}

// A queue is opened and entered where people look for it.
Result<void> open_queue_of(MigrationSession& session, MovingQueue& queue) {
  const auto version = migrate::target_version(session.target(), queue.keys);
  if (!version) return version.error();
  if (*version == migrate::kMigrating)
    if (auto closed = migrate::close_target(session.target(), queue.names.to, "finish"); !closed)
      return closed;
  const auto listed = session.target().ask(
      {"ZADD", reserve_key(Reserve::queues), std::to_string(session.now_ms()), queue.names.to});
  if (!listed) return listed.error();
  if (*version != migrate::kMigrating && listed->integer == 0) return {};  // another call has
  return session.step(queue, "opened", 0);
}

}  // namespace

Migration::Migration(Client target, MigrationOptions options)
    : target_(std::move(target)), options_(std::move(options)) {}

Result<MigrationPlan> Migration::plan() {
  auto session = MigrationSession::open(target_, options_);
  if (!session) return session.error();
  return migrate::make_plan(**session);
}

Result<MigrationReport> Migration::run() {
  auto opened = begin(target_, options_);
  if (!opened) return opened.error();
  auto& session = **opened;
  for (const auto& queue : session.queues())
    if (queue.journal.phase == MigrationPhase::aborting)
      return migrate::wrong_phase(queue, "is being put back; abort() has to end first");
  Account account(session);
  if (auto out = migrate::shut_out(session); !out) return out.error();
  account.tell_left();
  const auto total = session.count_source();
  if (!total) return total.error();
  session.begin_progress(*total);
  for (auto& queue : session.queues())
    if (queue.journal.phase == MigrationPhase::fenced)
      if (auto copied = copy(session, queue, account); !copied) return copied.error();
  return account.close();
}

Result<std::vector<MigrationStatus>> Migration::status() {
  auto opened = MigrationSession::open(target_, options_);
  if (!opened) return opened.error();
  std::vector<MigrationStatus> all;
  for (auto& queue : (*opened)->queues()) {
    auto cursor = migrate::target_cursor((*opened)->target(), queue.keys);
    if (!cursor) return cursor.error();
    all.push_back({queue.names, queue.journal.phase, queue.journal.began_ms, queue.journal.source,
                   *std::move(cursor)});
  }
  return all;
}

Result<MigrationComparison> Migration::verify() {
  auto opened = begin(target_, options_);
  if (!opened) return opened.error();
  for (const auto& queue : (*opened)->queues())
    if (!is_one_of(queue.journal.phase, {MigrationPhase::copied, MigrationPhase::verified}))
      return migrate::wrong_phase(queue, "is not copied, or not there any more to compare with");
  return compare_all(**opened);
}

Result<MigrationReport> Migration::abort() {
  auto opened = begin(target_, options_);
  if (!opened) return opened.error();
  auto& session = **opened;
  bool any = false;
  for (const auto& queue : session.queues()) {
    if (is_one_of(queue.journal.phase, {MigrationPhase::finishing, MigrationPhase::finished}))
      return migrate::wrong_phase(queue, "is open already: v1 cannot get it back");
    any = any || queue.journal.phase != MigrationPhase::none;
  }
  if (!any) return migrate::wrong_phase(session.queues().front(), "is not being migrated");
  Account account(session);
  if (auto back = migrate::put_back(
          session, /*all=*/true,
          [&account](const MovingQueue& queue) { return account.counter(queue); });
      !back)
    return back.error();
  return account.close();
}

Result<MigrationReport> Migration::finish() {
  auto opened = begin(target_, options_);
  if (!opened) return opened.error();
  auto& session = **opened;
  bool compared = true;
  for (const auto& queue : session.queues()) {
    const auto phase = queue.journal.phase;
    if (!is_one_of(phase, {MigrationPhase::copied, MigrationPhase::verified,
                           MigrationPhase::finishing, MigrationPhase::finished}))
      return migrate::wrong_phase(queue, "is not copied yet");
    compared = compared && phase != MigrationPhase::copied;
  }
  if (!compared) {
    const auto all = compare_all(session);
    if (!all) return all.error();
    if (all->found > 0) {
      const auto& first = all->differences.front();
      return migrate::wrong_phase(
          session.queues().front(),
          "and the target differ in " + std::to_string(all->found) + " places, first: " +
              (first.job.empty() ? "queue " + first.queue : "job " + first.job) + " " + first.text);
    }
  } else if (auto known = check_verified(session); !known) {
    return known.error();
  }
  Account account(session);
  for (auto& queue : session.queues()) {
    if (is_one_of(queue.journal.phase, {MigrationPhase::finishing, MigrationPhase::finished}))
      continue;
    if (auto entered = session.enter(queue, MigrationPhase::finishing); !entered)
      return entered.error();
  }
  for (auto& queue : session.queues())
    if (queue.journal.phase == MigrationPhase::finishing)
      if (auto open = open_queue_of(session, queue); !open) return open.error();
  for (auto& queue : session.queues()) {
    if (queue.journal.phase != MigrationPhase::finishing) continue;
    if (auto gone = migrate::delete_source(session.source(), queue.v1, account.counter(queue));
        !gone)
      return gone.error();
    if (auto entered = session.enter(queue, MigrationPhase::finished); !entered)
      return entered.error();
  }
  return account.close();
}

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// One queue, driven by its scripts alone: each member function is one call of the script of its
// name, built from the same generated structs as the library's calls. Time, leases and flush
// numbers are the caller's own, so hours pass without waiting. Every answer is noted
// (probe/observed.h).
//
//   ScriptQueue q(redis, unique_queue());
//   q.open();
//   EXPECT_EQ(statuses(q.add({{.id = "a"}})), "ok");
//   const auto run = q.claim(1).runs.at(0);
//   q.now += 5'000;
//   EXPECT_EQ(statuses(q.finish({{run}})), "ok");
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "echomq_scripts.h"
#include "flow/plan.h"
#include "migrate/walk.h"
#include "probe/link.h"
#include "probe/observed.h"
#include "protocol/lease.h"
#include "queue/queue_keys.h"

namespace echomq::inline v2::probe {

struct JobToAdd {
  std::string id;
  bool custom = true;  // false: the id counts as minted, and no sub-keys are declared
  std::int64_t delay = 0;
  unsigned priority = 0;
  bool lifo = false;
  std::string name = "job";
  std::string data = "{}";
  std::string opts{};
  // Of a deduplication: its id, `how` and the ttl as job/add_deduplicated reads them, and the owner
  // that the caller knows; the ScriptQueue puts in the true one where there is none.
  std::string de{};
  std::string how{};
  std::int64_t ttl = 0;
  std::optional<std::string> seen{};
};

// An entry of `de` as a caller saw it.
struct OwnedSeen {
  std::string de;
  std::string owner;
  std::string kept{};
};

// Which flush an add is. Without a number it is the next one of the ScriptQueue.
struct Flush {
  std::string lane = "1.0";
  std::uint64_t grant = 1;
  std::optional<std::uint64_t> number{};
};

// A claim of one job: what ends it must show the token.
struct JobRun {
  std::string id;
  std::uint64_t token = 0;
  std::uint64_t lease = 0;  // as it was claimed; 0: of no known deadline
};

struct Claimed {
  Reply reply;
  Lease lease;
  std::vector<JobRun> runs;

  [[nodiscard]] std::string ids() const;  // separated by blanks
  [[nodiscard]] std::string gate() const { return show(part(0)); }
  [[nodiscard]] std::int64_t left() const { return part(1).integer; }
  [[nodiscard]] std::int64_t crashed_left() const { return part(2).integer; }
  [[nodiscard]] std::string due() const { return show(part(3)); }
  [[nodiscard]] std::string oldest_lease() const { return show(part(4)); }
  [[nodiscard]] std::int64_t opens() const { return part(5).integer; }

 private:
  // A refusal has none.
  [[nodiscard]] Reply part(std::size_t i) const {
    return i < reply.items.size() ? reply.items[i] : Reply();
  }
};

struct ClaimOptions {
  std::int64_t lease_ms = 30'000;
  unsigned node = 1;
  bool take_crashed = true;
  std::optional<unsigned> nonce{};  // not given: the next one of the ScriptQueue
};

// The jobs of one call end alike: all completed or all failed, all dropped or none.
struct FinishItem {
  JobRun run;
  bool completed = true;
  std::string value = "1";
  bool drop = false;  // delete the job instead of keeping it
  unsigned ats = 1;
  unsigned atm = 1;
  unsigned stc = 0;
};

// Those that the caller saw as the oldest of the finished set, and how many it wants to see;
// whether the jobs have parents; and what is told of their ends, not given: the truth.
struct OldestSeen {
  std::vector<std::string> oldest{};
  unsigned peek = 0;
  bool parents = false;
  std::optional<std::string> ends{};
};

struct Retry {
  JobRun run;
  std::int64_t delay = 0;
  std::string reason = "it broke";
  unsigned ats = 1;
  unsigned atm = 1;
};

struct Release {
  JobRun run;
  unsigned ats = 0;  // 0: the job was not started
};

// What is empty stays as it is.
struct LimitsToSet {
  std::string concurrency{};
  std::string max{};
  std::string duration = "0";
  std::string burst = "0";
  std::string length{};
};

struct Progress {
  JobRun run;
  std::string value = "50";
};

// A job as a caller saw it in a sorted set before it acts on it.
struct Seen {
  std::string id;
  std::string score;
};

struct Delay {
  std::string id;
  std::int64_t delay = 0;  // 0: ready at once
};

struct RetryOfFinished {
  bool completed = true;
  bool failed = true;
  bool reset_attempts = true;
};

// What is removed must be so still.
struct RemoveWhere {
  std::int64_t seen = -1;    // an index in their line, where the ids are looked for
  std::string state{};       // empty: any but active
  std::string before{};      // ms; ended by then, or added by then
  std::int64_t told_in = 0;  // ms, for which nobody is to deliver what its parent is told
  std::string of{};          // `<queue>:<id>`: only children of this one
};

struct LogLine {
  std::string id;
  std::string line = "a line";
  std::string token{};  // empty: of no run
};

struct Retention {
  std::int64_t count = -1;  // below 0: no limit
  std::int64_t age_ms = 0;  // 0: no limit
  std::int64_t bytes = 0;   // 0: no limit
};

// A scheduler as it is put. `seen`: what the caller knows that its ticks left behind; not given:
// the truth.
struct SchedulerToPut {
  std::string id;
  std::string next{};  // of the first tick; empty: there is none
  std::string def = "0:0:0:0:once:1:allow:every:60000:0";
  std::string shape = "0:0:3:job";
  std::string data = "{}";
  std::optional<std::string> seen{};
};

// A step of a scheduler. What is not given is as it is stored.
struct FireStep {
  std::string id;
  std::string tick{};  // empty: no job is made
  std::string next{};  // empty: it ends
  std::optional<std::string> seen{};
  std::optional<std::string> def{};
  std::uint64_t skipped = 0;
  std::string last_job{};
};

struct Trim {
  std::uint64_t most = 1'000;
  std::string cap{};  // set once nothing is left over
  std::string trim = "~";
};

// How a child ended, as its parent is told.
struct EndOfChild {
  std::string parent;
  std::string ref;  // "<queue>:<id>"
  std::uint64_t epoch = 1;
  char kind = 'c';
  char policy = 'f';
  std::string value = "+1";
};

// An entry of an outbox that is to be forgotten.
struct Delivered {
  std::string field;
  std::string seen;
  bool orphaned = false;
};

// The commands of calls, each as it may be sent again to another server (EVAL with the source).
using Journal = std::vector<std::string>;

// Sends recorded calls again.
void replay(Link& redis, const Journal& journal);

class ScriptQueue {
 public:
  ScriptQueue(Link& redis, std::string name) : redis_(redis), keys(name), name_(std::move(name)) {}

  Reply open();
  Reply counts();
  Reply read(const std::string& id);
  Reply add(const std::vector<JobToAdd>& jobs, const Flush& flush = {});
  Reply add_deduplicated(const std::vector<JobToAdd>& jobs, const Flush& flush = {});
  Reply end_deduplication(const std::vector<OwnedSeen>& ids, bool force = false);
  Reply hold_deduplication(const std::vector<OwnedSeen>& ids);
  Reply read_deduplication(const std::string& de, const std::string& seen);
  // The entry of that id, as it stands; empty where there is none.
  OwnedSeen owned(const std::string& de);
  Claimed claim(std::size_t count, const ClaimOptions& options = {});
  Reply extend(const std::vector<JobRun>& runs, std::int64_t lease_ms = 30'000);
  Reply finish(const std::vector<FinishItem>& items, const OldestSeen& how = {});
  Reply retry(const std::vector<Retry>& items);
  Reply release(const std::vector<Release>& items, std::int64_t hold = 0);
  Reply progress(const std::vector<Progress>& items);
  Reply promote(const std::vector<Seen>& items);
  Reply recover(const std::vector<Seen>& items, unsigned max_crashes = 1);
  // `with_subkeys`: those of the ids whose sub-keys are declared.
  Reply evict(const std::vector<std::string>& ids, const std::set<std::string>& with_subkeys = {});
  Reply reschedule(const std::vector<Delay>& items);
  // `seen`: an index in `wait`, where the ids are looked for.
  Reply prioritize(const std::vector<std::string>& ids, unsigned priority, std::int64_t seen = -1);
  Reply remove(const std::vector<std::string>& ids, const RemoveWhere& where = {});
  Reply retry_finished(const std::vector<std::string>& ids, const RetryOfFinished& how = {});
  // Without a token: of no run.
  Reply update(const std::string& id, const std::string& data, const std::string& token = {});
  Reply log(const std::vector<LogLine>& lines, unsigned keep = 1'000);
  Reply read_logs(const std::string& id, int first = 0, int last = -1);
  Reply page(const std::string& set, bool descending, const Seen& from, unsigned limit);
  Reply line(const std::string& list, bool descending, std::int64_t seen,
             const std::vector<std::string>& passed, unsigned limit);
  Reply priorities(unsigned from = 0, unsigned limit = 256);
  // Of a migration: its target, which no other call touches.
  Reply open_target(const migrate::Fields& settings);
  Reply put(const std::string& from, const std::string& to, Structure place,
            const std::vector<migrate::MovedJob>& jobs);
  Reply append(const std::string& key, std::string_view type, bool replace,
               const migrate::Fields& entries);
  Reply close_target(std::string_view how);
  Reply pause(bool paused);
  Reply repair();
  // `outbox`: how many of its entries may go.
  Reply obliterate(bool all = false, std::size_t outbox = 0);
  Reply keep_metrics(std::int64_t minutes);
  // Minutes since 1970.
  Reply metrics(bool completed, std::int64_t from, std::int64_t count);
  Reply limit(const LimitsToSet& limits);
  Reply hold(std::int64_t duration);
  Reply gate();
  // The whole plan, or a part of it from the entry `first` on.
  Reply plan(const std::string& id, const flow::Plan& entries, std::size_t first = 0,
             bool sealed = true);
  Reply close_plan(const std::string& id, const std::string& seen);
  // Those entries of a plan that are of this queue.
  Reply add_flow(const std::string& plan, const flow::Plan& entries);
  Reply wait_for_children(const std::vector<Release>& items);
  // Those of one parent stand together.
  Reply settle(const std::vector<EndOfChild>& ends);
  Reply delivered(const std::vector<Delivered>& items);
  Reply emit(const std::string& event, const std::string& payload = {});
  Reply trim(std::uint64_t keep, const Trim& how = {});

  Reply put_scheduler(const SchedulerToPut& scheduler);
  Reply fire(const std::vector<FireStep>& steps);
  // Without `seen` and `def` those that are stored.
  Reply pause_scheduler(const std::string& id, bool paused, const std::string& next = {},
                        const std::optional<std::string>& seen = {},
                        const std::optional<std::string>& def = {});
  Reply remove_schedulers(const std::vector<std::string>& ids);
  Reply read_scheduler(const std::string& id);
  [[nodiscard]] std::string scheduler(const std::string& id) const {
    return scheduler_key(name_, id);
  }

  // What peeks read before they act: the due jobs, the expired leases, the trash.
  std::vector<Seen> peek_due(std::size_t limit = 256);
  std::vector<Seen> peek_expired(std::size_t limit = 256);
  std::vector<std::string> peek_trash(std::size_t limit = 256);

  // Plain looks by the caller itself.
  std::string job(const std::string& id) const { return job_key(name_, id); }
  std::string field(const std::string& id, const std::string& name);
  // What stands in the outbox of one child and its parent, and in a sub-key of one.
  std::string message(const std::string& child, const std::string& parent_queue,
                      const std::string& parent);
  std::string edge(const std::string& parent, Sub sub, const std::string& ref);
  std::string run(const std::string& id);                            // what its runs left behind
  std::string score(const std::string& key, const std::string& id);  // "(nil)" when it is not there
  std::int64_t active();                                             // how many are claimed
  Link& redis() { return redis_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Deletes whatever it has.
  void clear();

  // Sends a call as the library does: EVALSHA, and EVAL where the server does not know the script.
  Reply call(const ScriptCall& call);

 private:
  Link& redis_;

 public:
  const QueueKeys keys;
  std::int64_t now = 1'800'000'000'000;  // what calls are stamped with, ms since 1970
  int revision = scripts::kRevision;
  Retention keep_completed{};
  Retention keep_failed{};
  Journal* journal = nullptr;                    // where calls are written down, if anywhere
  Observed* observed = &Observed::of_process();  // and what they were answered
  std::function<void()> before_call{};           // runs when a call is built and not yet sent
  std::function<void(const Script&)> after_call{};
  std::set<std::string> declared{};  // every key that a call named: all that the queue can have

 private:
  std::string name_;
  std::uint64_t flush_ = 0;
  unsigned nonce_ = 0;
};

// node/lease of the deployment that `redis` is connected to.
struct NodeRequest {
  std::int64_t now = 1'800'000'000'000;
  std::int64_t until = 1'800'000'030'000;
  std::string owner = "owner-1";
  bool keep = true;
  std::vector<unsigned> nodes{1};
  int revision = scripts::kRevision;
  // The deployment's, or others in their place.
  std::string version_key = reserve_key(Reserve::version);
  std::string nodes_key = reserve_key(Reserve::nodes);
};
Reply lease_node(Link& redis, const NodeRequest& request, Journal* journal = nullptr,
                 Observed* observed = &Observed::of_process());

// The item statuses separated by blanks, or the text of an error reply.
std::string statuses(const Reply& reply);

// The second part of an answer (evicted ids, next due), in one line.
std::string second(const Reply& reply);

// Sends a call, with what a journal and `observed` want to know of it.
Reply send_call(Link& redis, const ScriptCall& call, Journal* journal,
                Observed* observed = &Observed::of_process());

}  // namespace echomq::inline v2::probe

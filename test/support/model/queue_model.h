// SPDX-License-Identifier: MIT
// The model: what a queue is, in maps and lists of one process, by the words of docs/protocol.md
// and docs/states.md. It is slow, does one thing after the other, and always tells the truth: each
// member function is one call of the script of its name, takes what ScriptQueue's takes, and
// answers what that call must answer (as show() prints it, of an error the class word); keyspace()
// is what must stand on the server then.
//
// A batch is nothing but its items, one after the other. Where a document leaves a choice to the
// script the model takes the script's: where in a long `wait` an entry is looked for and emptied.
// What a stream of about so many entries keeps is the server's; adopt_stream() tells the model.
//
// Not of it: foreign or broken keys, the full server, the 256 KiB of a call. An id that stands in
// a state without a hash (deleted by hand) and is added again is none of its business either:
// std::logic_error.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probe/script_queue.h"
#include "queue/queue_keys.h"
#include "support/dump.h"

namespace echomq::test {

using Ids = std::vector<std::string>;
using Scores = std::map<std::string, std::int64_t>;  // the members of a sorted set

// What the runs of a job left behind.
struct ModelRun {
  std::uint64_t claims = 0, attempts = 0, crashes = 0;
  std::int64_t started = 0, ended = 0;
  std::string token{};  // in decimal; empty: it has not ended
  std::string worker{};
};

// A hash of a job.
struct ModelJob {
  std::int64_t added = 0;
  std::string name{}, opts{}, data{}, deid{};
  unsigned priority = 0;
  bool lifo = false;
  std::optional<std::int64_t> delay{};  // 0: it is over
  std::optional<std::int64_t> place{};  // in `prioritized`
  std::optional<ModelRun> run{};
  std::optional<std::string> returnvalue{}, failed_reason{}, progress{};
  std::string edge{};  // to its parent: `<epoch>:<policy>:<queue>:<id>`; empty: it has none
  std::optional<std::string> plan{};  // by which its children were named
  // The child that failed it, and `<how many did>:<the last>`.
  std::optional<std::string> failed_by{}, fails{};
};

// The edges of a job to its children, by their references.
struct ModelChildren {
  std::map<std::string, std::uint64_t> pending{};  // with their epochs
  // As they are stored.
  std::map<std::string, std::string> processed{}, ignored{}, unsuccessful{};
};

// An entry of `de`.
struct ModelOwner {
  std::string owner;
  std::int64_t until = 0;  // 0: until that job is over
  bool held = false;
  std::optional<JobToAdd> kept{};
};

// The last flush of a lane, and what it was told.
struct ModelFlush {
  std::uint64_t grant = 0, number = 0;
  Ids statuses{};
  bool is_noted_in_full = false;  // also where all are `ok`
};

struct ModelLimits {
  std::int64_t concurrency = 0, max = 0, duration = 0, burst = 0, length = 0;  // 0: not limited
  friend bool operator==(const ModelLimits&, const ModelLimits&) = default;
};

// `limiter`: pairs of a time and a number.
struct ModelGates {
  using Pair = std::optional<std::pair<std::int64_t, std::int64_t>>;
  Pair hold{};    // since when, for how long
  Pair window{};  // since when, how many
  Pair bucket{};  // when it had which level
  std::optional<std::int64_t> armed{};
};

struct ModelNode {
  std::int64_t until = 0;
  std::uint64_t grant = 0;
  std::string owner;
};

struct ModelMetrics {
  std::map<std::int64_t, std::uint64_t> minutes{};
  std::optional<std::int64_t> from{};
};

// What the ticks of a scheduler left behind.
struct ModelRan {
  std::int64_t last = 0;
  std::uint64_t made = 0, skipped = 0;
  std::string job{};
};

struct ModelScheduler {
  std::string def{}, shape{}, data{};
  std::optional<ModelRan> ran{};
  bool paused = false;
  std::optional<std::int64_t> next{};
};

class QueueModel {
 public:
  explicit QueueModel(const std::string& name) : keys(name), name_(name) {}

  std::string open();
  std::string counts();
  std::string read(const std::string& id);
  std::string add(const std::vector<JobToAdd>& jobs, const Flush& flush);
  std::string add_deduplicated(const std::vector<JobToAdd>& jobs, const Flush& flush);
  std::string end_deduplication(const std::vector<OwnedSeen>& ids, bool force);
  std::string hold_deduplication(const std::vector<OwnedSeen>& ids);
  std::string read_deduplication(const std::string& de, const std::string& seen);
  std::string claim(std::size_t count, const ClaimOptions& options);
  std::string extend(const std::vector<JobRun>& runs, std::int64_t lease_ms);
  std::string finish(const std::vector<FinishItem>& items, const OldestSeen& how);
  std::string retry(const std::vector<Retry>& items);
  std::string release(const std::vector<Release>& items, std::int64_t hold);
  std::string progress(const std::vector<Progress>& items);
  std::string promote(const std::vector<Seen>& items);
  std::string recover(const std::vector<Seen>& items, unsigned max_crashes);
  std::string evict(const Ids& ids, const std::set<std::string>& with_subkeys);
  std::string reschedule(const std::vector<Delay>& items);
  std::string prioritize(const Ids& ids, unsigned priority, std::int64_t seen);
  std::string remove(const Ids& ids, const RemoveWhere& where);
  std::string retry_finished(const Ids& ids, const RetryOfFinished& how);
  std::string update(const std::string& id, const std::string& data, const std::string& token);
  std::string log(const std::vector<LogLine>& lines, unsigned keep);
  std::string read_logs(const std::string& id, int first, int last);
  std::string page(const std::string& set, bool descending, const Seen& from, unsigned limit);
  std::string line(const std::string& list, bool descending, std::int64_t seen, const Ids& passed,
                   unsigned limit);
  std::string priorities(unsigned from, unsigned limit);
  std::string pause(bool paused);
  std::string obliterate(bool all, std::size_t outbox);
  std::string keep_metrics(std::int64_t minutes);
  std::string metrics(bool completed, std::int64_t from, std::int64_t count);
  std::string limit(const LimitsToSet& limits);
  std::string hold(std::int64_t duration);
  std::string gate();
  std::string emit(const std::string& event, const std::string& payload);
  std::string trim(std::uint64_t keep, const Trim& how);
  std::string lease_node(const NodeRequest& request);
  std::string plan(const std::string& id, const flow::Plan& entries, std::size_t first,
                   bool sealed);
  std::string close_plan(const std::string& id, const std::string& seen);
  std::string add_flow(const std::string& plan, const flow::Plan& entries);
  std::string wait_for_children(const std::vector<Release>& items);
  std::string settle(const std::vector<EndOfChild>& ends);
  std::string delivered(const std::vector<Delivered>& items);
  // What a caller saw is given in each call.
  std::string put_scheduler(const SchedulerToPut& put);
  std::string fire(const std::vector<FireStep>& steps);
  std::string pause_scheduler(const std::string& id, bool pause, const std::string& next,
                              const std::optional<std::string>& seen,
                              const std::optional<std::string>& def);
  std::string remove_schedulers(const Ids& ids);
  std::string read_scheduler(const std::string& id);

  // The hash is deleted by hand.
  void lose(const std::string& id) {
    jobs.erase(id);
    lost.insert(id);
  }
  // Whoever is idle pops the first mark.
  std::string pop_mark();

  // The keys of the queue and of the deployment as they must be.
  [[nodiscard]] Dump keyspace() const;
  // The server kept so many of the newest entries: so does the model, where about so many are kept.
  void adopt_stream(std::size_t length);

  std::int64_t now = 0;
  Retention keep_completed{};
  Retention keep_failed{};
  QueueKeys keys;

  // meta
  bool is_open = false;
  std::int64_t created = 0;
  bool paused = false;
  std::string event_cap, event_trim;  // the latter is empty until it is set
  std::uint64_t event_seq = 0, priority_seq = 0;
  std::int64_t metrics_kept = 0;
  std::optional<ModelLimits> limits;

  std::map<std::string, ModelJob> jobs;
  std::map<std::string, std::deque<std::string>> logs;
  std::deque<std::string> wait;  // an empty entry is a ghost
  bool has_had_ghosts = false;
  std::deque<std::string> crashed;
  Scores prioritized, active, delayed, completed, failed, waiting_children, marker;
  // Of those of a finished set that ended under a rule with bytes.
  Scores sizes_completed, sizes_failed;
  std::set<std::string> trash, subkeys;
  std::map<std::string, ModelFlush> producers;
  std::map<std::string, Ids> told_owners;  // of the last flush of a lane that has deduplications
  std::map<std::string, ModelOwner> de;
  Scores de_due;
  ModelGates gates;
  ModelMetrics ended_completed, ended_failed;
  std::deque<std::string> events;
  bool has_stream = false;
  std::map<std::string, ModelScheduler> schedulers;
  std::map<std::string, ModelChildren> children;  // of the jobs of these ids
  std::map<std::string, std::string> outbox;
  std::map<std::string, std::deque<std::string>> plans;
  std::set<std::string> lost;  // whose hash was deleted by hand
  std::map<unsigned, ModelNode> nodes;
  std::uint64_t grants = 0;

  // Whether the id stands in a state.
  [[nodiscard]] bool stands(const std::string& id) const;
  [[nodiscard]] ModelJob* find(const std::string& id);
  // Who owns a deduplication id now; nullptr: nobody.
  [[nodiscard]] ModelOwner* owner_of(const std::string& id);

 private:
  struct Told {
    std::string name;
    Ids ids;
  };
  struct OpenGates;

  void tell(const std::vector<Told>& events);
  void write_event(const std::string& fields);
  void wake();
  void wake_at(std::int64_t due);
  void mark_tick(std::int64_t at);
  void free_slots(std::size_t left);
  void count_ended(ModelMetrics& metrics, std::size_t count);

  // What a flush was told that was applied already.
  [[nodiscard]] std::optional<Ids> said_before(const Flush& flush, std::size_t count) const;
  [[nodiscard]] bool is_taken(const JobToAdd& job) const;
  // How many more jobs may be added; nullopt: any number.
  [[nodiscard]] std::optional<std::int64_t> room_left() const;
  void store(const JobToAdd& job);
  void line_up(const Ids& stored);
  void take_place(ModelJob& job);
  void get_ready(const std::string& id, bool front);
  void get_ready_by_itself(const std::string& id);
  void end_delay(const std::string& id);
  void forget(const std::string& id);
  [[nodiscard]] bool is_held(const JobRun& run) const;
  // A claim that its holder gives up leaves `active`: the status of that, and its job, nullptr
  // where there is none or it was not the caller's.
  ModelJob* leave_active(const JobRun& run, Ids& statuses, std::size_t& left);
  [[nodiscard]] std::optional<std::size_t> find_in_line(const std::string& id,
                                                        std::int64_t seen) const;
  void drop_from_line(std::size_t at);
  Ids take_from_line(std::size_t want);
  Ids take_over(Scores& finished, Scores& sizes, const Retention& keep) const;
  void note_size(Scores& sizes, const std::string& id, std::size_t value, const Retention& keep);
  void leave_finished(const std::string& id);
  [[nodiscard]] Ids with_subkeys(const Ids& ids) const;
  [[nodiscard]] OpenGates look_at_gates() const;
  void pass(const OpenGates& open, std::int64_t taken);
  void hold_until(std::int64_t length);
  void look_again(const std::string& id);
  // Of a flow. What is told, dated so many ms later than now, is added to `sent`, field and message
  // in turn.
  void report(const std::string& id, const std::string& edge, char kind, const std::string& value,
              Ids& sent, std::int64_t later = 0);
  void reopen(const std::string& id, Ids& sent);
  void fall(const std::string& id, const std::string& ref, const std::string& why, Ids& sent);
  void retain_fallen(std::size_t fallen);
  void name_children(const std::string& plan, const flow::PlanEntry& entry);
  [[nodiscard]] const Scores& scores_at(const std::string& key) const;

  std::string name_;
};

// The hashes of a job and of a scheduler, what its ticks left behind, and the field of the limits,
// as they are written.
std::map<std::string, std::string> fields_of(const ModelJob& job);
std::map<std::string, std::string> fields_of(const ModelScheduler& scheduler);
std::string ran_text(const ModelScheduler& scheduler);
std::string limits_field(const ModelLimits& limits);

// The members in the order of their scores.
std::vector<std::pair<std::string, std::int64_t>> in_order(const Scores& scores);

// INV7: every job stands in exactly one state, and every state holds jobs only. One line for each
// that does not; trash counts as a state.
Ids jobs_out_of_state(const QueueModel& model);

// As show() prints an array; words joined by blanks.
std::string bracketed(const Ids& items);
std::string blank_joined(const Ids& words);

}  // namespace echomq::test

// SPDX-License-Identifier: MIT
// Each class of refusal: what it is told, and that nothing was touched. The statuses of items are
// seen with the scripts (scripts.cc).
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "echomq/keyspace.h"
#include "probe/planned.h"
#include "probe/scene.h"
#include "probe/trial.h"

namespace echomq::inline v2::probe {
namespace {

struct Foreign {
  std::string_view name;
  std::string_view refusal;
  void (*make)(ScriptQueue& q);
};

// What may stand in the place of our meta.
constexpr std::array kForeign{
    Foreign{"a v1 queue", "EMQFENCE expected=echomq:2.0.0 found=bullmq:5.65.1",
            [](ScriptQueue& q) {
              q.redis()({"DEL", q.keys.meta});
              q.redis()({"HSET", q.keys.meta, "version", "bullmq:5.65.1"});
            }},
    Foreign{"a later wire", "EMQFENCE expected=echomq:2.0.0 found=echomq:3.0.0",
            [](ScriptQueue& q) {
              q.redis()({"HSET", q.keys.meta, "version", "echomq:3.0.0"});
            }},
    Foreign{"no version", "EMQFENCE expected=echomq:2.0.0 found=nothing",
            [](ScriptQueue& q) {
              q.redis()({"HDEL", q.keys.meta, "version"});
            }},
    Foreign{"no meta", "EMQFENCE expected=echomq:2.0.0 found=",
            [](ScriptQueue& q) {
              q.redis()({"DEL", q.keys.meta});
            }},
    Foreign{"a meta of another type", "EMQFENCE expected=echomq:2.0.0 found=a meta key",
            [](ScriptQueue& q) {
              q.redis()({"DEL", q.keys.meta});
              q.redis()({"SET", q.keys.meta, "echomq:2.0.0"});
            }},
    Foreign{"a newer revision", "EMQFENCE expected=revision ",
            [](ScriptQueue& q) {
              q.redis()({"HSET", q.keys.meta, "min_revision", "1000000"});
            }},
};

// Their queue is one that is being filled.
std::string refusal_of(const Exercise& exercise, const Foreign& foreign) {
  constexpr std::string_view kOurs = "echomq:2.0.0 ";
  std::string refusal(foreign.refusal);
  if (const auto at = refusal.find(kOurs);
      is_of_migration(exercise.script) && at != std::string::npos)
    refusal.replace(at, kOurs.size(), "echomq:2.0.0:migrating ");
  return refusal;
}

// One exercise of each script, all on one scene, which none of them may change.
void is_fenced(Trial& trial, const Foreign& foreign) {
  auto& q = trial.queue();
  Scene scene(q);
  foreign.make(q);
  std::set<std::string> seen;
  for (const auto& exercise : exercises()) {
    if (trial.stopped()) return;
    if (!seen.insert(exercise.script).second) continue;
    trial.expect_refused(exercise.script, q, refusal_of(exercise, foreign),
                         [&] { return exercise.call(scene); });
  }
  trial.note(std::to_string(seen.size()) + " scripts refused it and changed nothing");
}

// The first acts of a v1 client meet sentinels.
void stops_v1(Trial& trial) {
  auto& q = trial.open_queue();
  const auto before = trial.dump(q);
  trial.expect("INCR of the key id is refused", trial.link()({"INCR", q.keys.id}).is_error());
  trial.expect("a fetch of v1, from wait to active, is refused",
               trial.link()({"RPOPLPUSH", q.keys.wait, q.keys.active}).is_error() ||
                   trial.link()({"LLEN", q.keys.active}).is_error());
  trial.expect("what differs then", difference(before, trial.dump(q)), "");
}

// An overwritten sentinel is somebody else's queue.
void refuses_a_foreign_sentinel(Trial& trial) {
  auto& q = trial.open_queue();
  trial.link()({"SET", q.keys.id, "17"});
  trial.expect_refused("queue/open", q, "EMQFENCE", [&] { return q.open(); });
}

void refuses_an_older_grant(Trial& trial) {
  auto& q = trial.open_queue();
  trial.expect("a flush of grant 2", statuses(q.add({{.id = "a"}}, {.grant = 2, .number = 1})),
               "ok");
  trial.expect_refused("job/add of an older grant", q, "EMQARG",
                       [&] { return q.add({{.id = "b"}}, {.grant = 1, .number = 1}); });
  trial.expect_refused("job/add_deduplicated of an older grant", q, "EMQARG", [&] {
    return q.add_deduplicated({{.id = "b", .de = "d"}}, {.grant = 1, .number = 1});
  });
}

ScriptCall half_a_message(const ScriptQueue& q) {
  const SubKeys sub(q.name(), "fp");
  auto call = ScriptCall::of<scripts::FlowSettle>(
      q.keys, {.revision = q.revision, .now = q.now, .count = 1, .keep = -1, .age = 0});
  call.put_keys(scripts::FlowSettle::ItemKeys{.job = q.job("fp"),
                                              .dependencies = sub.dependencies,
                                              .processed = sub.processed,
                                              .failed_children = sub.failed,
                                              .unsuccessful = sub.unsuccessful});
  call.put_args(
      scripts::FlowSettle::ItemArgs{.id = "fp", .told = 2, .messages = "8:1:c:f:0:scene:fc"});
  return call;
}

// What is told of several items at once must tell of all of them.
void refuses_what_is_cut_short(Trial& trial) {
  auto& q = trial.queue();
  const Scene scene(q);
  trial.expect_refused("job/finish", q, "EMQARG", [&] {
    return q.finish({{.run = {"a1"}}, {.run = {"a2"}}}, {.ends = "1:7:1:1:0:5:0:"});
  });
  trial.expect_refused("flow/settle", q, "EMQARG", [&] { return q.call(half_a_message(q)); });
  auto tree = plan_of(q.name() + ":6", {{.queue = q.name(), .id = "np"},
                                        {.queue = q.name(), .id = "nc", .parent = 0}});
  for (auto& entry : tree) entry.owner.clear();
  trial.expect_refused("flow/add", q, "EMQARG", [&] { return q.add_flow(q.name() + ":6", tree); });
}

const migrate::Fields kMoved{{"head", "1:1:n"}, {"data", "{}"}};

void refuses_what_no_migration_says(Trial& trial) {
  auto& target = trial.queue();
  trial.expect_refused("migrate/open", target, "EMQARG", [&] {
    return target.call(ScriptCall::of<scripts::MigrateOpen>(
        target.keys, {.revision = target.revision, .now = target.now, .settings = "4:"}));
  });
  target.open_target({});
  trial.expect_refused("migrate/put", target, "EMQARG", [&] {
    return target.put("", "0:1:0:", Structure::wait, {{.id = "n", .score = "0", .fields = {}}});
  });
  trial.expect_refused("migrate/append", target, "EMQARG", [&] {
    return target.append(target.keys.schedules, "stream", false, {{"s", "7"}});
  });
}

// How far the copy has come decides what a chunk is answered.
void chunks_count_once(Trial& trial) {
  auto& q = trial.queue();
  trial.expect("a target is made", q.open_target({}).integer == 1);
  const auto put = [&q](const std::string& from, const std::string& to, const std::string& id) {
    return show(q.put(from, to, Structure::wait, {{.id = id, .score = "0", .fields = kMoved}}));
  };
  trial.expect("the first chunk", put("", "0:1:0:", "a"), "ok");
  const auto before = trial.dump(q);
  trial.expect("the same one again", put("", "0:1:0:", "a"), "done");
  trial.expect("one from elsewhere", put("0:7:0:", "0:8:0:", "b"), "moved");
  trial.expect("what differs then", difference(before, trial.dump(q)), "");
  trial.expect("a job that is there already", put("0:1:0:", "0:2:0:", "a"), "[dup]");
}

// At its maxmemory a server refuses what may grow.
class FullServer {
 public:
  explicit FullServer(Trial& trial) : trial_(trial) {
    const auto limit = trial.link()({"CONFIG", "GET", "maxmemory"});
    if (limit.items.size() == 2) before_ = limit.items[1].text;
    set_ = !before_.empty() && trial.link()({"CONFIG", "SET", "maxmemory", "1"}).text == "OK";
  }
  ~FullServer() {
    if (set_) trial_.link()({"CONFIG", "SET", "maxmemory", before_});
  }
  FullServer(const FullServer&) = delete;
  FullServer& operator=(const FullServer&) = delete;

  [[nodiscard]] bool is_full() const { return set_; }

 private:
  Trial& trial_;
  std::string before_;
  bool set_ = false;
};

void refuses_adds_when_full(Trial& trial) {
  if (!trial.stage().options.alone)
    return trial.skip("it would fill the server; only where nobody else uses it (--alone)");
  auto& q = trial.queue();
  Scene scene(q);
  const auto due = q.peek_due();
  auto& unmade = trial.queue();
  auto& filling = trial.queue();
  filling.open_target({});
  const FullServer full(trial);
  if (!full.is_full()) return trial.skip("CONFIG SET maxmemory is denied");
  trial.stage().was_full = true;
  constexpr std::string_view kFull = "EMQFULL";
  trial.expect_refused("queue/open", unmade, kFull, [&] { return unmade.open(); });
  trial.expect_refused("job/add", q, kFull, [&] { return q.add({{.id = "n"}}); });
  trial.expect_refused("job/add_deduplicated", q, kFull,
                       [&] { return q.add_deduplicated({{.id = "n", .de = "free"}}); });
  trial.expect_refused("queue/emit", q, kFull, [&] { return q.emit("mine"); });
  trial.expect_refused("schedule/put", q, kFull, [&] {
    return q.put_scheduler({.id = "n", .next = std::to_string(q.now + 5)});
  });
  trial.expect_refused("schedule/fire", q, kFull, [&] {
    return q.fire({{.id = "s1", .tick = std::to_string(q.now - 60'000)}});
  });
  const auto plan = plan_of(q.name() + ":6", {{.queue = q.name(), .id = "np"},
                                              {.queue = q.name(), .id = "nc", .parent = 0}});
  trial.expect_refused("flow/plan", q, kFull, [&] { return q.plan("6", plan); });
  trial.expect_refused("flow/add", q, kFull, [&] { return q.add_flow(q.name() + ":6", plan); });
  auto& target = trial.queue();
  trial.expect_refused("migrate/open", target, kFull, [&] { return target.open_target({}); });
  trial.expect_refused("migrate/put", filling, kFull, [&] {
    return filling.put("", "0:1:0:", Structure::wait,
                       {{.id = "n", .score = "0", .fields = kMoved}});
  });
  trial.expect_refused("migrate/append", filling, kFull, [&] {
    return filling.append(filling.keys.schedules, "zset", false, {{"s", "7"}});
  });
  trial.expect("job/promote answers", statuses(q.promote(due)), "ok ok");
  trial.expect("job/claim takes work", !q.claim(3).runs.empty());
  trial.expect("job/extend answers", statuses(q.extend({scene.run("a1")})), "ok");
  trial.expect("job/finish answers", statuses(q.finish({{.run = scene.run("a1")}})), "ok");
  trial.expect("job/retry answers", statuses(q.retry({{.run = scene.run("a2")}})), "ok");
}

// The structures that one call of an exercise declares. meta is the fence's, id and repeat are of
// queue/open.
std::vector<Structure> declared_by(Trial& trial, const Exercise& exercise) {
  auto& q = trial.queue();
  Scene scene(q);
  const auto all = std::exchange(q.declared, {});
  exercise.call(scene);
  std::vector<Structure> structures;
  for (const auto structure : kStructures)
    if (structure != Structure::meta && structure != Structure::id &&
        structure != Structure::repeat && q.declared.contains(key(q.name(), structure)))
      structures.push_back(structure);
  q.declared.insert(all.begin(), all.end());
  trial.drop(q);
  return structures;
}

// The server does not roll back, so what is wrong is seen before the first write.
void is_never_torn(Trial& trial) {
  std::set<std::string> seen{"queue/open", "queue/obliterate"};
  std::size_t refused = 0;
  for (const auto& exercise : exercises()) {
    if (trial.stopped()) return;
    if (!seen.insert(exercise.script).second) continue;
    for (const auto structure : declared_by(trial, exercise)) {
      auto& q = trial.queue();
      Scene scene(q);
      const auto foreign = key(q.name(), structure);
      trial.link()({"DEL", foreign});
      trial.link()({"SET", foreign, "foreign"});
      Dump before;
      q.before_call = [&] { before = trial.dump(q); };
      const auto reply = exercise.call(scene);
      q.before_call = {};
      if (reply.is_error()) ++refused;
      if (const auto torn = difference(before, trial.dump(q)); reply.is_error() && !torn.empty())
        trial.fail(exercise.script + " was torn by a foreign " + std::string(word(structure)) +
                   ": " + torn.substr(0, torn.find('\n')));
      trial.drop(q);
    }
  }
  trial.note(std::to_string(refused) + " refusals changed nothing");
}

void decorations_tear_nothing(Trial& trial) {
  std::set<std::string> seen;
  for (const auto& exercise : exercises()) {
    if (trial.stopped()) return;
    if (!seen.insert(exercise.script).second) continue;
    if (exercise.script == "queue/emit" || exercise.script == "queue/trim") continue;
    auto& q = trial.queue();
    Scene scene(q);
    for (const auto& foreign : {q.keys.events, q.keys.marker}) {
      trial.link()({"DEL", foreign});
      trial.link()({"SET", foreign, "foreign"});
    }
    const auto reply = exercise.call(scene);
    if (reply.is_error()) trial.fail(exercise.script + " answered " + reply.text);
    trial.drop(q);
  }
}

// Of all scenarios. Where the server was not filled, nobody was told so.
void answers_are_those_declared(Trial& trial) {
  if (!trial.stage().options.only.empty())
    return trial.skip("it looks at all scenarios, of which only some were run");
  std::size_t unseen = 0;
  for (const auto& gap : trial.stage().observed.gaps()) {
    if (gap.starts_with("node/lease")) continue;
    if (gap.find("EMQFULL is declared") != std::string::npos && !trial.stage().was_full)
      ++unseen;
    else
      trial.fail(gap);
  }
  trial.note(unseen == 0 ? "all statuses and class words were seen"
                         : "all but EMQFULL, which only a full server says");
}

}  // namespace

std::vector<ScenarioEntry> refusal_scenarios() {
  std::vector<ScenarioEntry> all;
  all.reserve(16);
  for (const auto& foreign : kForeign)
    all.push_back({"fence: every script refuses " + std::string(foreign.name), "INV1",
                   [&foreign](Trial& trial) { is_fenced(trial, foreign); }});
  all.push_back({"fence: a v1 client is stopped by its first acts", "INV1", stops_v1});
  all.push_back({"fence: an overwritten sentinel is refused", "INV1", refuses_a_foreign_sentinel});
  all.push_back({"refusals: an older grant contradicts", "5.9", refuses_an_older_grant});
  all.push_back({"refusals: what is cut short contradicts", "4.7", refuses_what_is_cut_short});
  all.push_back({"refusals: what no migration says", "14", refuses_what_no_migration_says});
  all.push_back({"migration: a chunk counts once", "14", chunks_count_once});
  all.push_back(
      {"refusals: a full server takes no adds and goes on", "4.4", refuses_adds_when_full});
  all.push_back({"refusals: a foreign type is seen before the first write", "INV7", is_never_torn});
  all.push_back(
      {"refusals: a broken stream or marker tears nothing", "4.3", decorations_tear_nothing});
  return all;
}

ScenarioEntry contract_scenario() {
  return {"answers: each declared status and class word was seen, and no other", "4.7",
          answers_are_those_declared};
}

}  // namespace echomq::inline v2::probe

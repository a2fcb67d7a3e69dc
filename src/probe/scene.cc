// SPDX-License-Identifier: MIT
#include "probe/scene.h"

#include "probe/planned.h"
#include "protocol/v1_names.h"

namespace echomq::inline v2::probe {
namespace {

constexpr std::int64_t kLong = 600'000;

std::vector<JobToAdd> plain(const std::vector<std::string>& ids) {
  std::vector<JobToAdd> jobs;
  jobs.reserve(ids.size());
  for (const auto& id : ids) jobs.push_back({.id = id});
  return jobs;
}

// By hand, so that it is there whatever the call under test would say; and as a script, which a
// full server lets write once it has deleted.
void put_fields(Scene& scene, const std::string& key, const std::vector<std::string>& fields) {
  std::vector<std::string> words{
      "EVAL", "redis.call('HDEL', KEYS[1], '') return redis.call('HSET', KEYS[1], unpack(ARGV))",
      "1", key};
  words.insert(words.end(), fields.begin(), fields.end());
  scene.q.redis()(words);
}

// A queue that a migration fills; one that is no queue of ours stays what it is. As a script that a
// full server lets write.
void mark_migrating(Scene& scene) {
  scene.q.redis()({"EVAL",
                   "redis.call('HDEL', KEYS[1], '') "
                   "if redis.call('HGET', KEYS[1], 'version') == 'echomq:2.0.0' then "
                   "redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0:migrating') end",
                   "1", scene.q.keys.meta});
}

// An exercise of a script of migrations.
Exercise filling(const char* script, Reply (*call)(Scene& s)) {
  return {script, [call](Scene& s) {
            mark_migrating(s);
            return call(s);
          }};
}

void set_limits(Scene& scene, const std::string& limits) {
  put_fields(scene, scene.q.keys.meta, {"limits", limits});
}

// Of this queue, under a name that is the same for each: two scenes are to be alike.
flow::Plan tree_of_scene(const ScriptQueue& q, const std::string& plan) {
  const std::string own = "scene";
  auto tree = plan_of(
      plan,
      {{.queue = own, .id = "fp"},
       {.queue = own, .id = "fc", .parent = 0, .delay = kLong},
       {.queue = own, .id = "fa", .parent = 0, .delay = kLong},
       {.queue = own, .id = "fg", .parent = 0, .policy = ChildFailure::ignore, .delay = kLong},
       {.queue = "other", .id = "fx", .parent = 0}});
  for (auto& entry : tree)
    if (entry.queue == own) entry.queue = q.name();
  return tree;
}

}  // namespace

Scene::Scene(ScriptQueue& queue) : q(queue) {
  q.open();
  q.keep_metrics(10);
  // Crashed ones first: they are claimed in turn, as the only ready jobs.
  q.add(plain({"ac", "c1", "c2", "e2"}));
  q.claim(4, {.lease_ms = 1'000});
  q.now += 10'000;
  require(q.recover(q.peek_expired(), 9), "ok ok ok ok");
  for (const char* const id : {"ac", "c1", "c2"}) {
    const auto claimed = q.claim(1, {.lease_ms = kLong});
    require(claimed.ids(), id);
    keep(claimed);
  }
  q.add(plain({"e1"}));
  require(q.claim(2, {.lease_ms = 1'000}).ids(), "e2 e1");
  require(q.release({{.run = run("c1")}, {.run = run("c2")}}), "ok ok");

  q.add({{.id = "d1", .delay = 5},
         {.id = "dp", .delay = 6, .priority = 2},
         {.id = "dn", .delay = kLong}});

  q.add(plain({"t1", "t2", "t3", "f1", "f2", "f3", "g1", "g2", "g3"}));
  const auto ended = q.claim(9, {.lease_ms = kLong, .take_crashed = false});
  const auto kept = q.keep_completed;
  q.keep_completed = {.count = 0};
  require(ended.ids(), "t1 t2 t3 f1 f2 f3 g1 g2 g3");
  if (!problem_.empty()) return;
  q.finish({{.run = ended.runs[0]}, {.run = ended.runs[1]}, {.run = ended.runs[2]}});
  q.keep_completed = kept;
  for (std::size_t i = 3; i < 9; ++i)
    require(q.finish({{.run = ended.runs[i], .completed = i < 6}}), "ok");

  q.add({{.id = "ap", .priority = 3}});
  q.add(plain({"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}));
  keep(q.claim(9, {.lease_ms = kLong, .take_crashed = false}));
  q.redis()({"SADD", q.keys.subkeys, "a5", "t3"});
  for (const auto* const id : {"a5", "t3"}) q.redis()({"RPUSH", q.job(id) + ":logs", "a line"});
  q.add(plain({"w1"}));
  q.redis()({"RPUSH", q.keys.wait, ""});
  q.redis()({"HSET", q.keys.ghosts, "wait", "1"});
  q.add(plain({"w2"}));
  q.add({{.id = "p1", .priority = 1}, {.id = "p2", .priority = 2}});
  // Owners in each state: one that waits, one that is delayed and has a sub-key, one that runs, one
  // that has ended and holds for its time, and one of those that end with this scene's calls.
  q.add_deduplicated({{.id = "own_a", .de = "A"},
                      {.id = "own_b", .de = "B"},
                      {.id = "own_c", .lifo = true, .de = "C", .ttl = kLong}});
  keep(q.claim(1, {.lease_ms = kLong, .take_crashed = false}));  // own_c
  q.hold_deduplication({{"C", "own_c"}});
  require(q.finish({{.run = run("own_c")}}), "ok");
  q.add_deduplicated({{.id = "own_k", .lifo = true, .de = "K"}});
  keep(q.claim(1, {.lease_ms = kLong, .take_crashed = false}));
  q.add_deduplicated({{.id = "kept", .de = "K", .how = "k"}});
  q.add_deduplicated({{.id = "own_d", .delay = kLong, .de = "D", .ttl = kLong},
                      {.id = "own_s", .delay = kLong, .de = "S"}});
  q.redis()({"SADD", q.keys.subkeys, "own_s"});
  q.redis()({"RPUSH", q.job("own_s") + ":logs", "a line"});
  // A parent that waits, with children of this queue: one that is delayed, one that runs, one that
  // failed and was tolerated, and one of another queue.
  require(q.add_flow("scene:7", tree_of_scene(q, "scene:7")), "ok ok ok ok ok");
  for (const auto* const id : {"fg", "fa"}) {
    q.redis()({"ZREM", q.keys.delayed, id});
    q.redis()({"LPUSH", q.keys.wait, id});
    keep(q.claim(1, {.lease_ms = kLong, .take_crashed = false}));
  }
  require(q.finish({{.run = run("fg"), .completed = false}}, {.parents = true}), "ok");
  q.now += 10'000;
  const auto due = std::to_string(q.now - 60'000);
  require(q.put_scheduler({.id = "s1", .next = due, .shape = "2:0:3:job"}), "ok");
  for (const auto* const id : {"s2", "s5"}) require(q.put_scheduler({.id = id, .next = due}), "ok");
  for (const auto* const id : {"s3", "s4"})
    require(q.put_scheduler({.id = id, .next = std::to_string(q.now + kLong)}), "ok");
  q.redis()({"HSET", q.scheduler("s2"), "ran", "5:1:0:a1"});
  q.redis()({"DEL", q.scheduler("s5")});
  require(q.pause_scheduler("s4", true), "ok");
  // The next end is the first of its minute, and there are older ones to take out.
  for (const auto& key : {q.keys.metrics_completed, q.keys.metrics_failed}) {
    q.redis()({"DEL", key});
    q.redis()({"HSET", key, "from", std::to_string(q.now / 60'000 - 100)});
  }
}

void Scene::keep(const Claimed& claimed) {
  runs_.insert(runs_.end(), claimed.runs.begin(), claimed.runs.end());
}

void Scene::require(const std::string& answer, const std::string& expected) {
  if (answer != expected && problem_.empty())
    problem_ = "a scene cannot be set: answered " + answer + ", expected " + expected;
}

JobRun Scene::run(const std::string& id) const {
  for (const auto& run : runs_)
    if (run.id == id) return run;
  return {id};
}

void Scene::remove_all() {
  auto& redis = q.redis();
  for (const auto& key : q.declared) {
    const auto parsed = parse_key(key);
    if (!parsed) continue;
    if (parsed->kind == KeyKind::job || parsed->kind == KeyKind::sub) redis({"UNLINK", key});
    if (parsed->kind == KeyKind::named && parsed->named == "schedule") redis({"UNLINK", key});
  }
  for (const auto& key : {q.keys.wait, q.keys.ghosts, q.keys.prioritized, q.keys.crashed,
                          q.keys.delayed, q.keys.completed, q.keys.failed, q.keys.trash,
                          q.keys.waiting_children, q.keys.outbox, q.keys.schedules})
    if (redis({"TYPE", key}).text != "string") redis({"UNLINK", key});
  auto running = texts(redis({"ZRANGEBYSCORE", q.keys.active, "-inf", "(inf"}));
  if (running.empty()) return;
  running.insert(running.begin(), {"ZREM", q.keys.active});
  redis(running);
}

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> all{
      {"queue/open", [](Scene& s) { return s.q.open(); }},
      {"queue/open",
       [](Scene& s) {
         s.q.redis()({"DEL", s.q.keys.id, s.q.keys.repeat});
         return s.q.open();
       }},
      {"queue/counts", [](Scene& s) { return s.q.counts(); }},
      {"queue/emit", [](Scene& s) { return s.q.emit("mine", "payload"); }},
      {"queue/trim", [](Scene& s) { return s.q.trim(1, {.cap = "20", .trim = "="}); }},
      {"queue/trim", [](Scene& s) { return s.q.trim(0, {.most = 1, .cap = "20"}); }},
      {"job/read", [](Scene& s) { return s.q.read("a1"); }},
      {"job/add",
       [](Scene& s) {
         return s.q.add({{.id = "n1"},
                         {.id = "n2", .lifo = true},
                         {.id = "n3", .delay = 1'000},
                         {.id = "n4", .priority = 3},
                         {.id = "t1"},
                         {.id = "1", .custom = false},
                         {.id = "n5", .delay = 1'000, .priority = 3},
                         {.id = "a1"}});
       }},
      {"job/add_deduplicated",
       [](Scene& s) {
         return s.q.add_deduplicated(
             {{.id = "x1"},
              {.id = "x2", .de = "free"},
              {.id = "x3", .de = "A"},
              {.id = "x4", .delay = 9, .de = "D", .how = "er", .ttl = 5'000},
              {.id = "x5", .delay = 9, .de = "D", .how = "er", .ttl = 5'000},
              {.id = "7", .custom = false, .priority = 2, .de = "S", .how = "r"},
              {.id = "x6", .de = "K", .how = "k"},
              {.id = "x7", .de = "C", .how = "e", .ttl = kLong},
              {.id = "x8", .de = "B", .seen = "nobody"},
              {.id = "a1", .de = "other"},
              {.id = "t1", .priority = 3, .lifo = false, .de = "another"},
              {.id = "x9", .lifo = true}});
       }},
      {"deduplication/end",
       [](Scene& s) {
         return s.q.end_deduplication({{"A", "own_a"},
                                       {"B", "other"},
                                       {"never", "own_a"},
                                       {"C", "own_c"},
                                       {"K", "own_k", "kept"}});
       }},
      {"deduplication/end",
       [](Scene& s) {
         s.q.finish({{.run = s.run("own_k")}});
         return s.q.end_deduplication({{"K", "own_k", "kept"}, {"A", "own_a"}});
       }},
      {"deduplication/end",
       [](Scene& s) {
         return s.q.end_deduplication({{"K", "own_k", "kept"}, {"A", "own_a"}}, /*force=*/true);
       }},
      {"deduplication/hold",
       [](Scene& s) {
         return s.q.hold_deduplication({{"D", "own_d"}, {"A", "own_a"}, {"B", "other"}});
       }},
      {"deduplication/read", [](Scene& s) { return s.q.read_deduplication("A", "own_a"); }},
      {"deduplication/read", [](Scene& s) { return s.q.read_deduplication("C", "other"); }},
      {"job/remove",
       [](Scene& s) {
         return s.q.remove({"own_a", "own_c", "own_d", "own_s"});
       }},
      {"job/remove", [](Scene& s) { return s.q.remove({"own_k"}, {.state = "active"}); }},
      {"job/retry_finished", [](Scene& s) { return s.q.retry_finished({"own_c"}); }},
      {"job/retry_finished", [](Scene& s) { return s.q.retry_finished({"fg"}); }},
      {"job/remove",
       [](Scene& s) {
         return s.q.remove({"fc", "fp"});
       }},
      {"job/remove",
       [](Scene& s) {
         return s.q.remove({"fc", "d1"}, {.told_in = 60'000, .of = "scene:fp"});
       }},
      {"job/finish",
       [](Scene& s) { return s.q.finish({{.run = s.run("fa")}}, {.parents = true}); }},
      {"flow/plan",
       [](Scene& s) {
         return s.q.plan("7", plan_of("scene:7", {{.queue = "scene", .id = "fp"},
                                                  {.queue = "scene", .id = "fc", .parent = 0}}));
       }},
      {"flow/close",
       [](Scene& s) {
         put_fields(s, s.q.keys.outbox, {"flow:7", "s:1:5"});
         return s.q.close_plan("7", "s:");
       }},
      {"flow/add",
       [](Scene& s) {
         auto tree = tree_of_scene(s.q, "scene:8");
         for (auto& entry : tree) entry.id = "n" + entry.id;
         tree[0].priority = 3;
         tree[2].id = "t3";  // in trash, with a sub-key
         tree[3].id = "a1";  // taken
         tree[4].delay_ms = 0;
         return s.q.add_flow("scene:8", tree);
       }},
      {"flow/add",
       [](Scene& s) {
         flow::PlanEntry edges;
         edges.kind = flow::PlanEntry::Kind::edges;
         edges.queue = s.q.name();
         edges.id = "fp";
         edges.epoch = "5";
         edges.owner = "-";
         edges.count = 1;
         edges.refs = "scene:fg";
         return s.q.add_flow("scene:9", {edges});
       }},
      {"flow/wait",
       [](Scene& s) {
         return s.q.wait_for_children(
             {{.run = s.run("a1"), .ats = 1}, {.run = s.run("ap"), .ats = 1}, {.run = {"a3", 0}}});
       }},
      {"flow/wait",
       [](Scene& s) {
         put_fields(s, s.q.job("a1") + ":dependencies", {"other:x", "1"});
         put_fields(s, s.q.job("a2"), {"fails", "1:other:y"});
         return s.q.wait_for_children(
             {{.run = s.run("a1"), .ats = 1}, {.run = s.run("a2"), .ats = 1}});
       }},
      {"flow/settle",
       [](Scene& s) {
         return s.q.settle({{.parent = "fp", .ref = "scene:fc"},
                            {.parent = "fp", .ref = "scene:fa", .kind = 'f', .policy = 'i'},
                            {.parent = "fp", .ref = "scene:fg", .kind = 'f', .policy = 'i'},
                            {.parent = "fp", .ref = "other:fx"},
                            {.parent = "never", .ref = "scene:fc"}});
       }},
      {"flow/settle",
       [](Scene& s) {
         return s.q.settle({{.parent = "fp", .ref = "scene:fc", .kind = 'f', .value = "no"},
                            {.parent = "fp", .ref = "scene:fa", .kind = 'f', .policy = 'c'}});
       }},
      {"flow/settle",
       [](Scene& s) {
         s.q.settle({{.parent = "fp", .ref = "scene:fc", .kind = 'f', .value = "no"}});
         return s.q.settle(
             {{.parent = "fp", .ref = "scene:fc", .epoch = 2, .kind = 'r', .value = {}}});
       }},
      {"flow/delivered",
       [](Scene& s) {
         const auto field = "fg " + s.q.name() + ":fp";
         return s.q.delivered(
             {{.field = field, .seen = "1:f:", .orphaned = true}, {.field = "none", .seen = "1"}});
       }},
      {"job/claim", [](Scene& s) { return s.q.claim(100).reply; }},
      {"job/claim", [](Scene& s) { return s.q.claim(0).reply; }},
      {"job/claim",
       [](Scene& s) {
         set_limits(s, "16:2:60000:0");
         put_fields(s, s.q.keys.limiter, {"held", std::to_string(s.q.now - 5), "hold", "5"});
         return s.q.claim(100).reply;
       }},
      {"job/claim",
       [](Scene& s) {
         set_limits(s, "0:3:1000:2");
         return s.q.claim(100).reply;
       }},
      {"job/claim",
       [](Scene& s) {
         set_limits(s, "0:0:0:0:0");
         put_fields(s, s.q.keys.limiter, {"held", std::to_string(s.q.now), "hold", "9000"});
         return s.q.claim(100).reply;
       }},
      {"job/claim",
       [](Scene& s) {
         set_limits(s, "0:0:0:0:0");
         put_fields(s, s.q.keys.limiter, {"held", "1", "hold", "5", "armed", "6"});
         return s.q.claim(2).reply;
       }},
      {"job/extend",
       [](Scene& s) {
         return s.q.extend({s.run("a1"), {"a2", 0}, s.run("ap")}, kLong);
       }},
      {"job/finish",
       [](Scene& s) {
         s.q.keep_completed = s.q.keep_failed = {.count = 2, .age_ms = kLong};
         return s.q.finish({{.run = s.run("a1")}, {.run = {"a4", 0}}});
       }},
      {"job/finish",
       [](Scene& s) {
         s.q.keep_failed = {.count = 2, .age_ms = kLong};
         return s.q.finish({{.run = s.run("a2"), .completed = false}});
       }},
      {"job/finish",
       [](Scene& s) {
         return s.q.finish({{.run = s.run("a3"), .drop = true},
                            {.run = {"a4", 0}, .drop = true},
                            {.run = s.run("a5"), .drop = true}});
       }},
      {"job/finish",
       [](Scene& s) {
         return s.q.finish({{.run = s.run("a1")}, {.run = s.run("a2")}});
       }},
      {"job/finish",
       [](Scene& s) {
         set_limits(s, "14:0:0:0");  // as many as run
         return s.q.finish({{.run = s.run("a1")}, {.run = s.run("a2")}});
       }},
      {"job/retry",
       [](Scene& s) {
         return s.q.retry({{.run = s.run("a1")},
                           {.run = s.run("a2"), .delay = 500},
                           {.run = s.run("ap")},
                           {.run = s.run("ac")},
                           {.run = {"a3", 0}}});
       }},
      {"job/release",
       [](Scene& s) {
         return s.q.release({{.run = s.run("a1"), .ats = 1},
                             {.run = s.run("ap")},
                             {.run = s.run("ac")},
                             {.run = {"a3", 0}}});
       }},
      {"job/release", [](Scene& s) { return s.q.release({{.run = s.run("a1")}}, kLong); }},
      {"job/progress",
       [](Scene& s) {
         return s.q.progress({{.run = s.run("a1")}, {.run = {"a2", 0}}});
       }},
      {"job/promote",
       [](Scene& s) {
         auto due = s.q.peek_due();
         due.push_back({"dn", "5"});
         return s.q.promote(due);
       }},
      {"job/recover",
       [](Scene& s) {
         s.q.keep_failed = {.count = 2};
         auto expired = s.q.peek_expired();
         expired.push_back({"a1", "5"});
         return s.q.recover(expired, 1);
       }},
      {"job/evict",
       [](Scene& s) {
         s.q.keep_completed = s.q.keep_failed = {.count = 1};
         return s.q.evict({"t1", "t2"});
       }},
      {"job/evict",
       [](Scene& s) {
         s.q.keep_completed = s.q.keep_failed = {.count = 1};
         return s.q.evict({"t1", "f1"});
       }},
      {"job/evict",
       [](Scene& s) {
         return s.q.evict({"t1", "t3"}, {"t3"});
       }},
      {"job/evict",
       [](Scene& s) {
         s.q.keep_completed = s.q.keep_failed = {.count = 1};
         return s.q.evict({});
       }},
      {"job/reschedule",
       [](Scene& s) {
         return s.q.reschedule({{"dn"}, {"dp"}, {"d1", 5'000}, {"w1"}, {"t1"}, {"never"}});
       }},
      {"job/prioritize",
       [](Scene& s) {
         return s.q.prioritize({"p1", "w1", "a1", "ac", "dn", "dp", "c1", "f1", "t1", "never"}, 7);
       }},
      {"job/prioritize",
       [](Scene& s) {
         return s.q.prioritize({"p2", "ap", "w2", "w1"}, 0);
       }},
      {"job/remove",
       [](Scene& s) {
         s.q.log({{.id = "f1"}});
         return s.q.remove({"w1", "p1", "c1", "d1", "f1", "g1", "a1", "t1", "never"}, {.seen = 0});
       }},
      {"job/remove",
       [](Scene& s) {
         return s.q.remove({"a1", "a5", "e1", "f1", "w1", "t1", "never"}, {.state = "active"});
       }},
      {"job/remove",
       [](Scene& s) {
         return s.q.remove({"f1", "w1", "a1", "never"},
                           {.state = "completed", .before = std::to_string(s.q.now)});
       }},
      {"job/retry_finished",
       [](Scene& s) {
         return s.q.retry_finished({"f1", "g1", "w1", "t1", "never"});
       }},
      {"job/retry_finished",
       [](Scene& s) {
         return s.q.retry_finished({"f1", "g1"}, {.completed = false, .reset_attempts = false});
       }},
      {"job/update", [](Scene& s) { return s.q.update("a1", "other"); }},
      {"job/update", [](Scene& s) { return s.q.update("t1", "other"); }},
      {"job/update", [](Scene& s) { return s.q.update("a2", "other", "0"); }},
      {"job/log",
       [](Scene& s) {
         return s.q.log({{.id = "a1", .token = std::to_string(s.run("a1").token)},
                         {.id = "a1"},
                         {.id = "w1"},
                         {.id = "a2", .token = "0"},
                         {.id = "t1"}},
                        1);
       }},
      {"job/read_logs", [](Scene& s) { return s.q.read_logs("a1"); }},
      {"queue/page", [](Scene& s) { return s.q.page(s.q.keys.completed, false, {}, 2); }},
      {"queue/page",
       [](Scene& s) {
         return s.q.page(s.q.keys.delayed, false, {"d0", std::to_string(s.q.now)}, 1);
       }},
      {"queue/line",
       [](Scene& s) {
         return s.q.line(s.q.keys.wait, false, 0, {"none", "w1"}, 1);
       }},
      {"queue/priorities", [](Scene& s) { return s.q.priorities(0, 3); }},
      {"queue/obliterate", [](Scene& s) { return s.q.obliterate(); }},
      {"queue/obliterate",
       [](Scene& s) {
         s.remove_all();
         return s.q.obliterate();
       }},
      {"queue/obliterate",
       [](Scene& s) {
         s.remove_all();
         return s.q.obliterate(/*all=*/true);
       }},
      {"schedule/put",
       [](Scene& s) {
         return s.q.put_scheduler({.id = "s9", .next = std::to_string(s.q.now + 5)});
       }},
      {"schedule/put",
       [](Scene& s) {
         return s.q.put_scheduler({.id = "s2",
                                   .next = std::to_string(s.q.now + 5),
                                   .def = "0:0:9:0:once:1:allow:every:5000:0"});
       }},
      {"schedule/put",
       [](Scene& s) { return s.q.put_scheduler({.id = "s1", .next = "7", .data = "other"}); }},
      {"schedule/fire",
       [](Scene& s) {
         const auto tick = [&s](std::int64_t minutes) {
           return std::to_string(s.q.now + minutes * 60'000);
         };
         return s.q.fire({{.id = "s1", .tick = tick(-1), .next = tick(0)},
                          {.id = "s1", .tick = tick(0), .next = tick(1), .seen = tick(0)},
                          {.id = "s2", .tick = tick(-1), .next = tick(1), .last_job = "a1"},
                          {.id = "s3", .tick = tick(10), .next = tick(11)},
                          {.id = "s5", .tick = tick(-1)},
                          {.id = "never", .seen = "5"}});
       }},
      {"schedule/fire",
       [](Scene& s) {
         set_limits(s, "0:0:0:0:1");
         const auto now = std::to_string(s.q.now);
         return s.q.fire(
             {{.id = "s1", .skipped = 2}, {.id = "s2", .tick = now, .next = "9" + now}});
       }},
      {"schedule/pause", [](Scene& s) { return s.q.pause_scheduler("s1", true); }},
      {"schedule/pause",
       [](Scene& s) { return s.q.pause_scheduler("s4", false, std::to_string(s.q.now + 5)); }},
      {"schedule/remove",
       [](Scene& s) {
         return s.q.remove_schedulers({"s1", "s4", "s5", "never"});
       }},
      {"schedule/read", [](Scene& s) { return s.q.read_scheduler("s1"); }},
      {"queue/keep_metrics", [](Scene& s) { return s.q.keep_metrics(60); }},
      {"queue/keep_metrics", [](Scene& s) { return s.q.keep_metrics(0); }},
      {"queue/metrics", [](Scene& s) { return s.q.metrics(true, s.q.now / 60'000 - 9, 10); }},
      {"queue/pause", [](Scene& s) { return s.q.pause(true); }},
      {"queue/pause",
       [](Scene& s) {
         s.q.pause(true);
         return s.q.pause(false);
       }},
      {"queue/repair", [](Scene& s) { return s.q.repair(); }},
      // As a v1 client leaves it that paused the queue, has been given a rate, and gave a job
      // another delay.
      {"queue/repair",
       [](Scene& s) {
         constexpr const char* kMove =
             "local ids = redis.pcall('LPOP', KEYS[1], 2) "
             "if not ids.err then redis.call('RPUSH', KEYS[2], unpack(ids)) end";
         s.q.redis()({"EVAL", kMove, "2", s.q.keys.wait, v1_word_key(s.q.name(), "paused")});
         constexpr const char* kDelay =
             "local gone = redis.pcall('ZREM', KEYS[1], 'd1') "
             "if gone == 1 then redis.call('ZADD', KEYS[1], '7372800000000000', 'd1') end";
         s.q.redis()({"EVAL", kDelay, "1", s.q.keys.delayed});
         put_fields(s, s.q.keys.meta, {"paused", "1", "concurrency", "5"});
         return s.q.repair();
       }},
      {"queue/limit",
       [](Scene& s) {
         return s.q.limit({.concurrency = "5", .max = "10", .duration = "1000", .burst = "2"});
       }},
      {"queue/limit",
       [](Scene& s) {
         set_limits(s, "5:10:1000:0:0");
         put_fields(s, s.q.keys.limiter, {"start", "1", "count", "2", "armed", "1001"});
         return s.q.limit({.concurrency = "0", .max = "0"});
       }},
      {"queue/hold", [](Scene& s) { return s.q.hold(kLong); }},
      {"queue/hold",
       [](Scene& s) {
         set_limits(s, "0:0:0:0:0");
         put_fields(s, s.q.keys.limiter, {"held", std::to_string(s.q.now), "hold", "9000"});
         return s.q.hold(0);
       }},
      {"queue/gate",
       [](Scene& s) {
         set_limits(s, "5:10:1000:0:0");
         return s.q.gate();
       }},
      {"queue/gate",
       [](Scene& s) {
         set_limits(s, "0:10:1000:2");
         return s.q.gate();
       }},
      // Last, because what they are called on is no queue of ours any more.
      filling("migrate/open",
              [](Scene& s) {
                return s.q.open_target({{"event_cap", "5"}});
              }),
      filling("migrate/put",
              [](Scene& s) {
                return s.q.put(
                    "", "0:2:0:", Structure::wait,
                    {{.id = "m1", .score = "0", .fields = {{"head", "1:1:n"}, {"data", "{}"}}},
                     {.id = "a1", .score = "0", .fields = {{"head", "1:1:n"}}}});
              }),
      filling("migrate/put",
              [](Scene& s) {
                return s.q.put("", "3:1:0:", Structure::delayed,
                               {{.id = "m1", .score = "5", .fields = {{"head", "1:1:n"}}}});
              }),
      filling(
          "migrate/append",
          [](Scene& s) {
            return s.q.append(s.q.scheduler("s9"), "hash", true, {{"def", "d"}, {"data", "{}"}});
          }),
      filling("migrate/append",
              [](Scene& s) {
                return s.q.append(s.q.keys.schedules, "zset", false, {{"s9", "7"}});
              }),
      filling(
          "migrate/append",
          [](Scene& s) {
            return s.q.append(s.q.job("w1") + ":logs", "list", true, {{"", "one"}, {"", "two"}});
          }),
      filling("migrate/append",
              [](Scene& s) {
                return s.q.append(s.q.keys.subkeys, "set", false, {{"w1", ""}});
              }),
      filling("migrate/close", [](Scene& s) { return s.q.close_target("finish"); }),
      filling("migrate/close", [](Scene& s) { return s.q.close_target("abort"); }),
  };
  return all;
}

}  // namespace echomq::inline v2::probe

// SPDX-License-Identifier: MIT
// The rules of docs/invariants.md that concern a queue as a whole: waking, time, nodes, events,
// metrics, limits, deduplication, schedulers, flows.
#include <string>
#include <vector>

#include "probe/planned.h"
#include "probe/trial.h"

namespace echomq::inline v2::probe {
namespace {

std::string mark(ScriptQueue& q, const std::string& member) {
  return q.score(q.keys.marker, member);
}

std::string at(std::int64_t ms) { return std::to_string(ms); }

void marks_are_apart(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a", .delay = 3'600'000}});
  trial.expect("the timer", mark(q, "1"), at(q.now + 3'600'000));
  q.add({{.id = "b"}});
  trial.expect("the mark of ready work", mark(q, "0"), "0");
  trial.expect("the timer beside it", mark(q, "1"), at(q.now + 3'600'000));
  trial.link()({"ZREM", q.keys.marker, "0"});
  q.add({{.id = "c"}, {.id = "d"}});
  trial.link()({"ZREM", q.keys.marker, "0"});
  q.claim(1);
  trial.expect("after a claim that leaves work", mark(q, "0"), "0");
  trial.link()({"ZREM", q.keys.marker, "0"});
  q.claim(9);
  trial.expect("after one that leaves none", mark(q, "0"), "(nil)");
  q.pause(true);
  q.add({{.id = "e"}});
  trial.expect("while the queue is paused", mark(q, "0"), "(nil)");
  q.pause(false);
  trial.expect("when it goes on", mark(q, "0"), "0");
}

// Whatever the server's own clock says, the stamp of the caller counts.
void time_is_an_argument(Trial& trial) {
  auto& q = trial.open_queue();
  q.now = 4'000'000'000'000;
  q.add({{.id = "a", .delay = 1'000}});
  trial.expect("job/promote before its time", statuses(q.promote({{"a", at(q.now + 1'000)}})),
               "moved");
  q.now += 1'000;
  trial.expect("and at it", statuses(q.promote(q.peek_due())), "ok");
}

void node_has_one_holder(Trial& trial) {
  auto& q = trial.open_queue();
  NodeRequest request{.nodes = {7}, .version_key = q.keys.id, .nodes_key = q.keys.limiter};
  q.declared.insert(q.keys.limiter);
  const auto lease = [&](const std::string& owner, bool keep) {
    request.owner = owner;
    request.keep = keep;
    return show(lease_node(q.redis(), request, nullptr, &trial.stage().observed));
  };
  trial.expect("a free node", lease("one", true), "[7 1 0]");
  trial.expect("the same node for another", lease("two", true), "[]");
  const auto until = at(request.until);
  trial.expect("renewing it", lease("one", true), "[7 1 " + until + "]");
  request.now = request.until + 1;
  request.until += 60'000;
  trial.expect("when its time is over", lease("two", true), "[7 2 " + until + "]");
  trial.link()({"SET", q.keys.id, "echomq:3.0.0"});
  trial.expect("on a deployment of another wire", lease("two", true).substr(0, 8), "EMQFENCE");
}

void events_are_dense(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c", .delay = 9}});
  const auto runs = q.claim(2).runs;
  if (!trial.expect("two are claimed", runs.size() == 2)) return;
  q.finish({{.run = runs[0]}, {.run = runs[1]}});
  q.emit("noon", "payload");
  const auto entries = trial.link()({"XREVRANGE", q.keys.events, "+", "-"});
  std::string numbers;
  for (const auto& entry : entries.items)
    if (!entry.items.empty()) numbers += show(entry.items.front()) + " ";
  trial.expect("the numbers of the entries", numbers, "3-0 2-0 1-0 ");
  trial.expect("the counter", show(trial.link()({"HGET", q.keys.meta, "event_seq"})), "3");
  const auto all = show(entries);
  for (const auto* const part : {"added a b", "delayed c", "completed a b", "custom noon payload"})
    trial.expect("the stream tells " + std::string(part), all.find(part) != std::string::npos);
}

void ends_are_counted_once(Trial& trial) {
  auto& q = trial.open_queue();
  q.keep_metrics(10);
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  if (!trial.expect("two are claimed", runs.size() == 2)) return;
  q.finish({{.run = runs[0]}, {.run = runs[1]}});
  q.finish({{.run = runs[0]}});  // said again
  trial.expect("the minute", show(q.metrics(true, q.now / 60'000, 1)), "[10 2]");
}

void concurrency_is_kept(Trial& trial) {
  auto& q = trial.open_queue();
  q.limit({.concurrency = "2"});
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto claimed = q.claim(9);
  trial.expect("claimed", claimed.ids(), "a b");
  trial.expect("the gate", claimed.gate(), "concurrency");
  trial.link()({"DEL", q.keys.marker});
  if (claimed.runs.size() == 2) q.finish({{.run = claimed.runs[0]}});
  trial.expect("an end wakes a worker", mark(q, "0"), "0");
  trial.expect("which takes the next", q.claim(9).ids(), "c");
}

void rates_are_kept(Trial& trial) {
  auto& q = trial.open_queue();
  q.limit({.max = "2", .duration = "1000"});
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}});
  const auto claimed = q.claim(9);
  trial.expect("claimed in a window", claimed.ids(), "a b");
  trial.expect("the gate opens", at(claimed.opens()), at(q.now + 1'000));
  q.now += 999;
  trial.expect("claimed just before its end", q.claim(9).ids(), "");
  q.now += 1;
  trial.expect("claimed at its end", q.claim(9).ids(), "c d");
  q.limit({.max = "1", .duration = "500", .burst = "1"});
  trial.expect("claimed by a bucket of one", q.claim(9).ids(), "e");
  trial.expect("the gate then", q.claim(1).gate(), "rate");
}

void hold_ends(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}});
  q.hold(5'000);
  trial.expect("the gate", q.claim(1).gate(), "held");
  q.now -= 60'000;  // a clock that is set back
  trial.expect("claimed by a clock set back", q.claim(1).ids(), "a");
}

void length_bounds_adds(Trial& trial) {
  auto& q = trial.open_queue();
  q.limit({.length = "2"});
  trial.expect("adds", statuses(q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}})), "ok ok full");
  q.claim(1);
  trial.expect("an add when one has left", statuses(q.add({{.id = "c"}})), "ok");
}

void id_has_one_owner(Trial& trial) {
  auto& q = trial.open_queue();
  trial.expect("an add under an id", statuses(q.add_deduplicated({{.id = "a", .de = "D"}})), "ok");
  trial.expect("another one", statuses(q.add_deduplicated({{.id = "b", .de = "D"}})), "owned");
  const auto runs = q.claim(1).runs;
  if (!trial.expect("the owner is claimed", runs.size() == 1)) return;
  trial.expect("one while it runs", statuses(q.add_deduplicated({{.id = "c", .de = "D"}})),
               "owned");
  q.finish({{.run = runs[0]}});
  trial.expect("one when it is over", statuses(q.add_deduplicated({{.id = "d", .de = "D"}})), "ok");
}

void adds_are_told_one_by_one(Trial& trial) {
  auto& q = trial.open_queue();
  const auto flush = [&q](const std::vector<JobToAdd>& jobs, std::uint64_t number) {
    return statuses(q.add_deduplicated(jobs, {.number = number}));
  };
  trial.expect("a minted id", flush({{.id = "1", .custom = false, .de = "A"}}, 5), "ok");
  trial.expect("the same id again", flush({{.id = "1", .custom = false, .de = "B"}}, 6), "state");
  trial.expect("an older flush", flush({{.id = "2", .custom = false, .de = "C"}}, 4), "done");
  q.limit({.length = "1"});
  trial.expect("a queue at its length", flush({{.id = "3", .custom = false, .de = "D"}}, 7),
               "full");
  trial.expect("an entry that nobody has", statuses(q.read_deduplication("never", "1")), "gone");
  trial.expect("an entry of another owner", statuses(q.read_deduplication("A", "2")), "moved");
}

void last_add_is_kept(Trial& trial) {
  auto& q = trial.open_queue();
  q.add_deduplicated({{.id = "a", .de = "D"}});
  const auto runs = q.claim(1).runs;
  if (!trial.expect("the owner is claimed", runs.size() == 1)) return;
  for (const auto* const id : {"b", "c"})
    trial.expect("an add while it runs",
                 statuses(q.add_deduplicated({{.id = id, .de = "D", .how = "k"}})), "owned");
  q.finish({{.run = runs[0]}});
  q.add({{.id = "other"}});
  trial.expect("deduplication/end", statuses(q.end_deduplication({{"D", "a", "c"}})), "ok");
  trial.expect("the same again", statuses(q.end_deduplication({{"D", "a", "c"}})), "moved");
  trial.expect("what waits", q.claim(9).ids(), "other c");
  q.add_deduplicated({{.id = "d", .de = "D", .how = "k"}});
  q.add({{.id = "d"}});
  for (const auto& run : q.claim(9).runs) q.finish({{.run = run}});
  trial.link()({"ZREM", q.keys.active, "c"});
  trial.link()({"ZADD", q.keys.completed, "1", "c"});
  trial.expect("what is kept, when its id is taken meanwhile",
               statuses(q.end_deduplication({{"D", "c", "d"}})), "dup");
}

void tick_makes_one_job(Trial& trial) {
  auto& q = trial.open_queue();
  const auto tick = at(q.now);
  q.put_scheduler({.id = "s", .next = tick});
  const auto fire = [&] {
    return statuses(q.fire({{.id = "s", .tick = tick, .next = at(q.now + 60'000), .seen = tick}}));
  };
  q.now -= 1;
  trial.expect("before its time", fire(), "moved");
  q.now += 1;
  trial.expect("at it", fire(), "ok");
  trial.expect("again", fire(), "moved");
  trial.expect("the jobs", q.claim(9).ids(), "s." + tick);
  trial.expect("the same scheduler put again", statuses(q.put_scheduler({.id = "s", .next = "5"})),
               "done");
}

void schedulers_are_told_what_stands(Trial& trial) {
  auto& q = trial.open_queue();
  const auto tick = at(q.now);
  q.put_scheduler({.id = "s", .next = tick});
  q.add({{.id = "s." + tick}});
  trial.expect("a tick whose job is there",
               statuses(q.fire({{.id = "s", .tick = tick, .next = at(q.now + 60'000)}})), "dup");
  const std::string other = "7:1:0:s.7";
  trial.expect(
      "another schedule by who saw another last tick",
      statuses(q.put_scheduler(
          {.id = "s", .next = "5", .def = "0:0:0:0:skip:1:allow:every:60000:0", .seen = other})),
      "moved");
  trial.expect("pausing it", statuses(q.pause_scheduler("s", true)), "ok");
  trial.expect("pausing it again", statuses(q.pause_scheduler("s", true)), "done");
  trial.expect("going on by who saw another last tick",
               statuses(q.pause_scheduler("s", false, at(q.now), other)), "moved");
  trial.expect("one that is not there", statuses(q.pause_scheduler("never", true)), "gone");
}

// A tree of a parent and two children, added to one queue.
void add_tree(Trial& trial, ScriptQueue& q, ChildFailure policy) {
  const auto plan =
      plan_of(q.name() + ":1", {{.queue = q.name(), .id = "p"},
                                {.queue = q.name(), .id = "a", .parent = 0, .policy = policy},
                                {.queue = q.name(), .id = "b", .parent = 0, .policy = policy}});
  trial.expect("flow/plan", show(q.plan("1", plan)), "ok");
  trial.expect("flow/add", statuses(q.add_flow(q.name() + ":1", plan)), "ok ok ok ok");
  trial.expect("flow/add again", statuses(q.add_flow(q.name() + ":1", plan)),
               "done done done done");
}

EndOfChild end_of(ScriptQueue& q, const std::string& child, char kind, const std::string& value) {
  return {.parent = "p", .ref = q.name() + ":" + child, .kind = kind, .value = value};
}

void parent_is_released_once(Trial& trial) {
  auto& q = trial.open_queue();
  add_tree(trial, q, ChildFailure::fail_parent);
  const auto runs = q.claim(9).runs;
  if (!trial.expect("the children are claimed", runs.size() == 2)) return;
  q.finish({{.run = runs[0]}, {.run = runs[1]}}, {.parents = true});
  trial.expect("what is told of a child", q.message("a", q.name(), "p").substr(0, 4), "1:c:");
  trial.expect("one child", statuses(q.settle({end_of(q, "a", 'c', "+1")})), "ok");
  trial.expect("the same again", statuses(q.settle({end_of(q, "a", 'c', "+1")})), "moved");
  trial.expect("the parent waits", q.score(q.keys.waiting_children, "p") != "(nil)");
  trial.expect("the other one", statuses(q.settle({end_of(q, "b", 'c', "+1")})), "ok");
  trial.expect("the parent is ready, once", q.claim(9).ids(), "p");
  trial.expect("flow/delivered",
               statuses(q.delivered({{.field = "a " + q.name() + ":p", .seen = "1:c:"}})), "ok");
}

// A record is deleted by who saw it as it is; what is said again of it is done.
void record_is_kept_until_added(Trial& trial) {
  auto& q = trial.open_queue();
  const auto plan = plan_of(q.name() + ":1", {{.queue = q.name(), .id = "p"},
                                              {.queue = q.name(), .id = "a", .parent = 0}});
  trial.expect("flow/plan", show(q.plan("1", plan)), "ok");
  trial.expect("flow/plan again", show(q.plan("1", plan)), "done");
  trial.expect("a part of a record that is not there", show(q.plan("2", plan, 5)), "gone");
  const auto note = show(trial.link()({"HGET", q.keys.outbox, "flow:1"}));
  trial.expect("flow/close by who saw another", show(q.close_plan("1", "o:9:9")), "moved");
  trial.expect("flow/close", show(q.close_plan("1", note)), "ok");
  trial.expect("flow/close again", show(q.close_plan("1", note)), "gone");
  flow::PlanEntry edges;
  edges.kind = flow::PlanEntry::Kind::edges;
  edges.queue = q.name();
  edges.id = "never";
  edges.epoch = "5";
  edges.owner = "-";
  edges.count = 1;
  edges.refs = "other:x";
  trial.expect("children of a job that is not there",
               statuses(q.add_flow(q.name() + ":3", {edges})), "gone");
}

void parent_falls_with_a_child(Trial& trial) {
  auto& q = trial.open_queue();
  add_tree(trial, q, ChildFailure::fail_parent);
  trial.expect("a child that failed", statuses(q.settle({end_of(q, "a", 'f', "no")})), "ok");
  trial.expect("the parent failed", q.score(q.keys.failed, "p") != "(nil)");
  trial.expect("and names the child", q.field("p", "failedBy"), q.name() + ":a");
  auto again = end_of(q, "a", 'r', "");
  again.epoch = 2;
  trial.expect("another run of it", statuses(q.settle({again})), "ok");
  trial.expect("the parent waits again", q.score(q.keys.waiting_children, "p") != "(nil)");
}

}  // namespace

std::vector<ScenarioEntry> rules_of_queues() {
  return {
      {"waking: ready work and timers are marks apart", "R 5.6", marks_are_apart},
      {"clock: time is an argument", "R 5.7", time_is_an_argument},
      {"script node/lease", "R 5.8", node_has_one_holder},
      {"events: each once, by dense numbers", "R 5.10", events_are_dense},
      {"metrics: an end is counted once", "R 5.11", ends_are_counted_once},
      {"limits: concurrency", "R 5.12", concurrency_is_kept},
      {"limits: rates by window and by bucket", "R 5.12", rates_are_kept},
      {"limits: a hold ends, by a clock set back too", "R 5.12", hold_ends},
      {"limits: length bounds adds", "R 5.12", length_bounds_adds},
      {"deduplication: an id has one owner", "R 5.14", id_has_one_owner},
      {"deduplication: adds are told one by one", "4.7", adds_are_told_one_by_one},
      {"deduplication: the last add is kept", "R 5.14", last_add_is_kept},
      {"schedulers: a tick makes one job", "R 5.16", tick_makes_one_job},
      {"schedulers: callers are told what stands there", "R 5.16", schedulers_are_told_what_stands},
      {"flows: a record is kept until all is added", "R 7", record_is_kept_until_added},
      {"flows: a parent is released once", "R 7", parent_is_released_once},
      {"flows: a parent falls with a child, and waits again", "R 7", parent_falls_with_a_child}};
}

}  // namespace echomq::inline v2::probe

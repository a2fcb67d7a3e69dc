// SPDX-License-Identifier: MIT
// The rules of docs/invariants.md that concern a job on its way: order, lease, recovery, crashes,
// repeated adds, deletion.
#include <string>
#include <vector>

#include "probe/scene.h"
#include "probe/trial.h"

namespace echomq::inline v2::probe {
namespace {

std::string claimed(ScriptQueue& q, std::size_t count) { return q.claim(count).ids(); }

void is_first_in_first_out(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d", .lifo = true}});
  trial.expect("claimed", claimed(q, 9), "d a b c");
}

// Up to the greatest priority, whose scores are just below 2^53.
void equals_keep_their_order(Trial& trial) {
  auto& q = trial.open_queue();
  constexpr unsigned kMost = 2'097'151;
  q.add({{.id = "z", .priority = kMost}, {.id = "y", .priority = kMost}});
  q.add({{.id = "x", .priority = kMost}, {.id = "b", .priority = 2}, {.id = "a", .priority = 1}});
  q.add({{.id = "none"}});
  trial.expect("claimed", claimed(q, 9), "none a b z y x");
}

void place_is_restored(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a", .priority = 5}, {.id = "b", .priority = 5}, {.id = "c", .priority = 5}});
  const auto runs = q.claim(1).runs;
  if (!trial.expect("one is claimed", runs.size() == 1)) return;
  q.release({{.run = runs.front()}});
  trial.expect("after a release", claimed(q, 9), "a b c");
}

void what_moved_is_left_alone(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a", .delay = 10}});
  q.now += 20;
  const auto seen = q.peek_due();
  q.reschedule({{"a", 5'000}});
  trial.expect("job/promote of what was seen before", statuses(q.promote(seen)), "moved");
  q.reschedule({{"a"}});
  const auto runs = q.claim(1, {.lease_ms = 1'000}).runs;
  q.now += 5'000;
  const auto expired = q.peek_expired();
  q.extend(runs);
  trial.expect("job/recover of what was extended since", statuses(q.recover(expired)), "moved");
}

// A job runs again elsewhere; what the first run says then is told apart by its token.
void late_end_is_stale(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}});
  const auto first = q.claim(1, {.lease_ms = 1'000}).runs;
  q.now += 5'000;
  trial.expect("job/recover", statuses(q.recover(q.peek_expired(), 9)), "ok");
  const auto second = q.claim(1, {.lease_ms = 30'000, .node = 2}).runs;
  if (!trial.expect("both runs are there", first.size() == 1 && second.size() == 1)) return;
  const auto before = trial.dump(q);
  trial.expect("a late finish", statuses(q.finish({{.run = first[0]}})), "stale");
  trial.expect("a late retry", statuses(q.retry({{.run = first[0]}})), "stale");
  trial.expect("a late release", statuses(q.release({{.run = first[0]}})), "stale");
  trial.expect("a late extension", statuses(q.extend({first[0]})), "stale");
  trial.expect("late progress", statuses(q.progress({{.run = first[0]}})), "stale");
  trial.expect("what they changed", difference(before, trial.dump(q)), "");
  trial.expect("the finish of the other run", statuses(q.finish({{.run = second[0]}})), "ok");
}

void repeated_end_is_done(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}});
  const auto runs = q.claim(1).runs;
  if (!trial.expect("one is claimed", runs.size() == 1)) return;
  trial.expect("an extension", statuses(q.extend(runs)), "ok");
  trial.expect("the finish by the token of the claim", statuses(q.finish({{.run = runs[0]}})),
               "ok");
  const auto before = trial.dump(q);
  trial.expect("the same finish again", statuses(q.finish({{.run = runs[0]}})), "done");
  trial.expect("what it changed", difference(before, trial.dump(q)), "");
}

void healthy_leases_are_left_alone(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}, {.id = "b"}});
  q.claim(1, {.lease_ms = 1'000});
  q.claim(1, {.lease_ms = 60'000});
  q.now += 5'000;
  const auto expired = q.peek_expired();
  trial.expect("expired leases", std::to_string(expired.size()), "1");
  trial.expect("job/recover", statuses(q.recover(expired, 9)), "ok");
  trial.expect("a second recovery of the same", statuses(q.recover(expired, 9)), "moved");
  trial.expect("runs that ended so", q.run("a").substr(0, 6), "1:0:1:");
}

void suspects_run_alone(Trial& trial) {
  auto& q = trial.open_queue();
  q.add({{.id = "a"}, {.id = "b"}});
  q.claim(2, {.lease_ms = 1'000});
  q.now += 5'000;
  q.recover(q.peek_expired(), 9);
  q.add({{.id = "c"}});
  trial.expect("a process that runs a suspect takes", q.claim(9, {.take_crashed = false}).ids(),
               "c");
  trial.expect("another one takes one of them", q.claim(9, {.lease_ms = 1'000}).ids(), "a");
  q.now += 5'000;
  trial.expect("one crash too many", statuses(q.recover(q.peek_expired(), 1)), "done");
  trial.expect("it stands in failed", q.score(q.keys.failed, "a") != "(nil)");
}

void repeated_add_adds_once(Trial& trial) {
  auto& q = trial.open_queue();
  const auto flush = [&q] {
    return statuses(q.add({{.id = "a"}, {.id = "1", .custom = false}}, {.number = 5}));
  };
  trial.expect("a flush", flush(), "ok ok");
  trial.expect("the same again", flush(), "ok ok");
  q.remove({"a"});
  trial.expect("again, when a job of it is gone", flush(), "ok ok");
  trial.expect("what waits", show(trial.link()({"LRANGE", q.keys.wait, "0", "-1"})), "[1]");
  trial.expect("an older flush", statuses(q.add({{.id = "z"}}, {.number = 4})), "done");
  trial.expect("a custom id that exists",
               statuses(q.add({{.id = "b"}, {.id = "b"}}, {.number = 6})), "ok dup");
  trial.expect("a minted id that exists",
               statuses(q.add({{.id = "1", .custom = false}}, {.number = 7})), "state");
}

void greatest_batch_is_stored(Trial& trial) {
  auto& q = trial.open_queue();
  std::vector<JobToAdd> jobs;
  jobs.reserve(256);
  for (int i = 0; i < 256; ++i)
    jobs.push_back({.id = "j" + std::to_string(i), .data = std::string(1'000, 'x')});
  const auto told = q.add(jobs);
  trial.expect("jobs that are stored", std::to_string(told.items.size()), "256");
  const auto runs = q.claim(256).runs;
  trial.expect("jobs that are claimed", std::to_string(runs.size()), "256");
  std::vector<FinishItem> ends;
  ends.reserve(runs.size());
  for (const auto& run : runs) ends.push_back({.run = run});
  q.finish(ends);
  trial.expect("jobs that are completed", show(trial.link()({"ZCARD", q.keys.completed})), "256");
}

void trash_spares_what_came_again(Trial& trial) {
  auto& q = trial.open_queue();
  q.keep_completed = {.count = 0};
  q.add({{.id = "a"}});
  const auto runs = q.claim(1).runs;
  if (!trial.expect("one is claimed", runs.size() == 1)) return;
  q.finish({{.run = runs[0]}});
  trial.expect("the trash", show(trial.link()({"SMISMEMBER", q.keys.trash, "a"})), "[1]");
  trial.expect("the id is added again", statuses(q.add({{.id = "a"}})), "ok");
  trial.expect("job/evict of it", statuses(q.evict({"a"})), "moved");
  trial.expect("it is there", claimed(q, 1), "a");
}

// What leaves the middle of a long line leaves an empty entry.
void ghosts_are_no_jobs(Trial& trial) {
  auto& q = trial.open_queue();
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<JobToAdd> jobs;
    jobs.reserve(250);
    for (int i = 0; i < 250; ++i)
      jobs.push_back({.id = std::to_string(100'000 + batch * 250 + i), .custom = false});
    q.add(jobs);
  }
  trial.expect("job/remove deep in the line", statuses(q.remove({"101250"}, {.seen = 1'250})),
               "ok");
  trial.expect("without an index", statuses(q.remove({"101251"})), "moved");
  trial.expect("job/prioritize deep in the line", statuses(q.prioritize({"101251"}, 3)), "moved");
  trial.expect("entries in the list", show(trial.link()({"LLEN", q.keys.wait})), "2500");
  trial.expect("jobs by queue/counts", show(q.counts()).find("2499") != std::string::npos);
}

// No script creates or half fills a hash that is not there.
void deleted_hash_is_gone(Trial& trial) {
  auto& q = trial.queue();
  Scene scene(q);
  const auto forget = [&](const std::string& id) {
    trial.link()({"DEL", q.job(id)});
    return scene.run(id);
  };
  const auto due = q.peek_due();
  const auto expired = q.peek_expired();
  for (const auto& seen : {due, expired})
    if (!seen.empty()) forget(seen.front().id);
  trial.expect("job/progress", statuses(q.progress({{.run = forget("a1")}})), "gone");
  trial.expect("job/finish", statuses(q.finish({{.run = scene.run("a1")}})), "gone");
  trial.expect("job/retry", statuses(q.retry({{.run = forget("a2")}})), "gone");
  trial.expect("job/release", statuses(q.release({{.run = forget("a3")}})), "gone");
  trial.expect("flow/wait", statuses(q.wait_for_children({{.run = forget("a4")}})), "gone");
  trial.expect("job/promote", statuses(q.promote(due)).substr(0, 4), "gone");
  trial.expect("job/recover", statuses(q.recover(expired, 9)).substr(0, 4), "gone");
  for (const auto* const id : {"a1", "a2", "a3", "a4"})
    trial.expect("a hash of " + std::string(id), show(trial.link()({"EXISTS", q.job(id)})), "0");
}

void obliterated_is_gone(Trial& trial) {
  auto& q = trial.queue();
  Scene scene(q);
  const auto counted = q.obliterate(true);
  trial.expect("queue/obliterate with jobs counts them and", !counted.is_error());
  trial.expect("leaves the queue", show(trial.link()({"EXISTS", q.keys.meta})), "1");
  scene.remove_all();
  q.obliterate(true, 100);
  const auto left = trial.dump(q);
  for (const auto& [key, content] : left)
    if (key != q.keys.subkeys) trial.fail(std::string(key).append(" is left: ").append(content));
}

}  // namespace

std::vector<ScenarioEntry> rules_of_jobs() {
  return {
      {"order: first in, first out, and lifo", "R 5.1", is_first_in_first_out},
      {"order: equal priorities, up to the greatest", "R 5.1", equals_keep_their_order},
      {"order: a place is restored", "R 5.1", place_is_restored},
      {"races: what has moved since it was seen is left alone", "R 5.2", what_moved_is_left_alone},
      {"lease: an end of an earlier run is stale", "R 5.3", late_end_is_stale},
      {"lease: a repeated end is done", "R 5.3", repeated_end_is_done},
      {"recovery: of what has expired, and once", "R 5.4", healthy_leases_are_left_alone},
      {"crashes: suspects run alone, and fail at last", "R 5.5", suspects_run_alone},
      {"adds: a repeated one adds once", "R 5.9", repeated_add_adds_once},
      {"bounds: the greatest batch is taken", "R 4.6", greatest_batch_is_stored},
      {"deleting: a hash deleted by hand is gone, and stays so", "INV7", deleted_hash_is_gone},
      {"deleting: trash spares what was added again", "R 6", trash_spares_what_came_again},
      {"deleting: an emptied entry is no job", "R 6", ghosts_are_no_jobs},
      {"deleting: obliterating leaves nothing", "R 6", obliterated_is_gone}};
}

}  // namespace echomq::inline v2::probe

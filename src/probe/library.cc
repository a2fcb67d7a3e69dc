// SPDX-License-Identifier: MIT
// The library itself at work: what a program adds is processed, and what that leaves on the server.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "echomq/fence.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "echomq/worker.h"
#include "probe/trial.h"
#include "protocol/version.h"

namespace echomq::inline v2::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Every key of the server that holds the text (empty: every key); nothing where that is denied, or
// would take long.
bool scan(Trial& trial, const std::string& part, std::set<std::string>& keys, std::string& why) {
  constexpr std::int64_t kMostKeys = 1'000'000;
  const auto size = trial.link()({"DBSIZE"});
  if (size.is_error() || size.integer > kMostKeys) {
    why = size.is_error() ? "DBSIZE: " + size.text
                          : "the server holds " + std::to_string(size.integer) + " keys";
    return false;
  }
  std::string cursor = "0";
  do {
    const auto page = trial.link()({"SCAN", cursor, "MATCH", "*" + part + "*", "COUNT", "1000"});
    if (page.items.size() != 2) {
      why = "SCAN: " + show(page);
      return false;
    }
    cursor = page.items[0].text;
    for (const auto& key : texts(page.items[1])) keys.insert(key);
  } while (cursor != "0");
  return true;
}

void work_off(Trial& trial, RawQueue& queue) {
  RawWorker worker(queue, {.concurrency = 2, .poll = milliseconds(100), .stop_when_empty = true},
                   [](RawJob& job) {
                     (void)job.progress("half");
                     return job.bytes() == "broken"
                                ? Outcome::unrecoverable("it broke")
                                : Outcome::done("of " + std::string(job.bytes()));
                   });
  trial.expect("the worker is done within 20 s", worker.wait(seconds(20)));
}

// Names what stands on the server now, did not before, and is neither of the queue nor of the
// deployment.
void expect_no_key_beside(Trial& trial, const std::string& name, const std::set<std::string>& keys,
                          const std::set<std::string>& before) {
  for (const auto& found : keys) {
    if (before.contains(found)) continue;
    const auto parsed = parse_key(found);
    trial.expect(found + " is a key of the queue or of the deployment",
                 parsed && (parsed->kind == KeyKind::reserve || parsed->queue == name));
  }
}

void round_trip_leaves_its_keys_alone(Trial& trial) {
  const auto name = trial.library_queue();
  // Where others are at work, what is new on the server may be theirs.
  const bool alone = trial.stage().options.alone;
  std::set<std::string> before;
  std::string why;
  const bool looked = alone && scan(trial, "", before, why);
  {
    RawQueue queue(trial.stage().client, name);
    for (const auto* const data : {"one", "two", "broken"}) {
      JobOptions options;
      options.attempts = 2;
      const auto added = queue.add(data, options);
      if (!added) return trial.fail("add: " + added.error().message());
    }
    JobOptions late;
    late.delay = milliseconds(50);
    late.priority = 3;
    late.id = "late";
    const auto added = queue.add("late", late);
    if (!added) return trial.fail("add: " + added.error().message());
    work_off(trial, queue);
    const auto counts = queue.counts();
    if (!counts) return trial.fail("counts: " + counts.error().message());
    trial.expect("completed", std::to_string(counts->completed), "3");
    trial.expect("failed", std::to_string(counts->failed), "1");
    const auto job = queue.job("late");
    trial.expect("the result", job ? job->result.value_or("") : job.error().message(), "of late");
  }
  trial.expect("meta.version", show(trial.link()({"HGET", key(name, Structure::meta), "version"})),
               std::string(kWireVersion));
  std::set<std::string> keys;
  if (!scan(trial, name, keys, why)) return trial.note("keys were not listed: " + why);
  for (const auto& found : keys) {
    const auto parsed = parse_key(found);
    trial.expect(found + " is a key of the queue", parsed && parsed->queue == name);
  }
  std::set<std::string> all;
  const bool compared = looked && scan(trial, "", all, why);
  if (compared) expect_no_key_beside(trial, name, all, before);
  trial.note(std::to_string(keys.size()) + " keys, all emq:{" + name + "}:*; " +
             (compared ? "of all keys of the server no others were made"
                       : "whether others were made was not proven: " +
                             (alone ? why : "only where nobody else uses the server (--alone)")));
}

void refusals_have_types(Trial& trial) {
  const auto name = trial.library_queue();
  RawQueue queue(trial.stage().client, name);
  JobOptions once;
  once.id = "once";
  (void)queue.add("x", once);
  const auto code = [](const auto& result) {
    return std::string(result ? "no error" : echomq::name(result.error().code));
  };
  trial.expect("an id that exists", code(queue.add("x", once)), "duplicate");
  trial.expect("a job that is not there", code(queue.job("never")), "not_found");
  trial.expect("a bad id", code(queue.job("a b")), "invalid_name");
  trial.link()({"HSET", key(name, Structure::meta), "version", "echomq:3.0.0"});
  const auto fenced = queue.add("x", {});
  trial.expect("another wire", code(fenced), "fence");
  const auto parts = fenced ? std::nullopt : fence_error(fenced.error());
  trial.expect("what was found", parts ? parts->found : "", "echomq:3.0.0");
  trial.link()({"HSET", key(name, Structure::meta), "version", kWireVersion});
}

// Whoever loses the scripts says them again, in the middle of work.
void flushed_scripts_are_said_again(Trial& trial) {
  if (!trial.stage().options.alone)
    return trial.skip("it would flush everybody's scripts; only with --alone");
  const auto name = trial.library_queue();
  RawQueue queue(trial.stage().client, name);
  (void)queue.add("one", {});
  const auto flushed = trial.link()({"SCRIPT", "FLUSH"});
  if (flushed.is_error()) return trial.skip("SCRIPT FLUSH: " + flushed.text);
  (void)queue.add("two", {});
  work_off(trial, queue);
  const auto counts = queue.counts();
  trial.expect("completed", std::to_string(counts ? counts->completed : -1), "2");
}

}  // namespace

std::vector<ScenarioEntry> library_scenarios() {
  return {{"library: a round trip leaves the queue's own keys and no others", "INV3",
           round_trip_leaves_its_keys_alone},
          {"library: refusals have types", "4.7", refusals_have_types},
          {"library: flushed scripts are said again", "R 4.8", flushed_scripts_are_said_again}};
}

}  // namespace echomq::inline v2::probe

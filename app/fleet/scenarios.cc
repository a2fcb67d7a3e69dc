// SPDX-License-Identifier: MIT
#include "fleet/scenarios.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "echomq/queue.h"
#include "fleet/base64.h"

namespace fleet {
namespace {

using Jobs = std::vector<std::pair<std::string, Json>>;  // data and options

Json jobs_of(const Jobs& jobs) {
  Json all = Json::array();
  for (const auto& [data, options] : jobs)
    all.push_back({{"data", to_base64(data)}, {"options", options}});
  return all;
}

// What the two read of a job is the same, whatever the order of its members.
void expect_same(Pair& pair, const std::string& queue, const Json& job) {
  const auto id = job.at("id").get<std::string>();
  const nlohmann::json adds = pair.adds.job(queue, id);
  const nlohmann::json works = pair.works.job(queue, id);
  expect(adds == works, "of job " + id + " the two read different things: " +
                            nlohmann::json::diff(adds, works).dump());
}

// What bytes may be: nothing, each byte, text of many scripts, what is no UTF-8, JSON, and more
// than fits into a batch.
std::vector<std::string> payloads() {
  std::string each;
  for (int byte = 0; byte < 256; ++byte) each += static_cast<char>(byte);
  std::string large;
  while (large.size() < 250'000) large += each;
  return {"",
          std::string(1, '\0'),
          each,
          "Grüße, 世界, مرحبا 🚀\r\n",
          "\xff\xfe\xc3(\x80",
          R"({"to":"you","n":9007199254740993})",
          large};
}

std::string bytes_come_back(Pair& pair) {
  Jobs jobs;
  for (const auto& data : payloads()) jobs.emplace_back(data, Json{{"name", "größe 🚀"}});
  pair.works.work(pair.queue, {{"concurrency", 3}});
  const auto ids = pair.adds.add(pair.queue, jobs_of(jobs));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto job = pair.adds.job_in(pair.queue, ids[i], "completed");
    const auto data = to_base64(jobs[i].first);
    expect(job.at("data") == data, "the data of job " + ids[i] + " was changed");
    // An empty result is stored as none.
    const auto result = job.at("result").is_null() ? Json("") : job.at("result");
    expect(result == data, "the result of job " + ids[i] + " is another one than was returned");
    expect_same(pair, pair.queue, job);
  }
  for (const auto& run : pair.works.runs(ids.size())) {
    const auto at = std::find(ids.begin(), ids.end(), run.at("id")) - ids.begin();
    expect(run.at("data") == to_base64(jobs.at(static_cast<std::size_t>(at)).first),
           "a handler was given other data than was added");
    expect(run.at("name") == "größe 🚀", "a handler was told the name " + run.at("name").dump());
  }
  return fmt::format("{} payloads, byte for byte", ids.size());
}

// Every kind of option as the one stores it and the other one reads it, of jobs that do not run.
std::string options_are_read(Pair& pair) {
  const auto later = Json{{"delay", 3'600'000}};
  const std::vector<Json> kinds{
      {{"attempts", 5}},
      {{"attempts", 3}, {"backoff", {{"type", "fixed"}, {"delay", 1'000}}}},
      {{"attempts", 9}, {"backoff", {{"type", "exponential"}, {"delay", 250}, {"jitter", 0.5}}}},
      {{"priority", 1}},
      {{"priority", 2'097'151}},
      {{"lifo", true}},
      {{"keep_completed", {{"count", 10}, {"age", 60}, {"bytes", 0}}}},
      {{"keep_failed", {{"count", -1}, {"age", 0}, {"bytes", 4'096}}}},
      {{"expires_in", 7'200'000}},
      {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
       {"tracestate", "vendor=\"1\\2\""}},
      {{"deduplication", {{"id", "ünique \"1\""}}}},
      {{"deduplication", {{"id", "b"}, {"ttl", 60'000}, {"extend", true}, {"replace", true}}}},
      {{"deduplication", {{"id", "c"}, {"keep_last", true}}}},
      Json::object()};
  Jobs jobs;
  for (auto options : kinds) {
    options.update(later);
    jobs.emplace_back("x", std::move(options));
  }
  const auto ids = pair.adds.add(pair.queue, jobs_of(jobs));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto job = pair.works.job(pair.queue, ids[i]);
    // Whatever the order of its members.
    const nlohmann::json found = job.at("options");
    const nlohmann::json given = jobs[i].second;
    expect(found == given, "read as " + found.dump() + ": " + given.dump());
    expect(job.at("state") == "delayed", "a delayed job is " + job.at("state").dump());
    expect_same(pair, pair.queue, job);
  }
  return fmt::format("{} kinds", ids.size());
}

std::string order_is_kept(Pair& pair) {
  const Jobs jobs{{"p2", {{"priority", 2}}},  {"p1", {{"priority", 1}}},
                  {"first", Json::object()},  {"p1b", {{"priority", 1}}},
                  {"second", Json::object()}, {"lifo", {{"lifo", true}}}};
  pair.adds.add(pair.queue, jobs_of(jobs));
  pair.works.work(pair.queue);
  std::string order;
  for (const auto& run : pair.works.runs(jobs.size()))
    order += (order.empty() ? "" : " ") + from_base64(run.at("data").get<std::string>());
  expect(order == "lifo first second p1 p1b p2", "they ran in the order " + order);
  return order;
}

std::string delay_passes(Pair& pair) {
  pair.works.work(pair.queue);
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", {{"delay", 300}}}})).at(0);
  const auto job = pair.adds.job_in(pair.queue, id, "completed");
  const auto began = pair.works.runs(1).at(0).at("began_ms").get<std::int64_t>();
  const auto waited = began - job.at("added_ms").get<std::int64_t>();
  // The two stamps are of two processes, each with an estimate of the server's clock.
  expect(waited >= 290, fmt::format("it ran {} ms after its add", waited));
  return fmt::format("ran after {} ms of 300", waited);
}

// Attempts of one job in both runtimes. Its backoff is so long that no worker has it by chance.
std::string retries_cross(Pair& pair) {
  const Json options{{"attempts", 3}, {"backoff", {{"type", "fixed"}, {"delay", 3'600'000}}}};
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", options}})).at(0);
  echomq::Queue<> queue{pair.onlooker, pair.queue};
  int attempt = 0;
  for (auto* const by : {&pair.works, &pair.adds, &pair.works}) {
    ++attempt;
    by->work(pair.queue, {{"fail_before", 3}, {"name", by->name()}});
    const auto job = pair.adds.job_in(pair.queue, id, attempt < 3 ? "delayed" : "completed");
    expect(by->runs(1).at(0).at("attempt") == attempt, "another attempt was run");
    by->stop();
    expect(job.at("attempts_made") == attempt && job.at("attempts_started") == attempt,
           "counted were " + job.at("attempts_made").dump() + " attempts");
    expect(job.at("worker") == by->name(), "the worker was " + job.at("worker").dump());
    expect_same(pair, pair.queue, job);
    if (attempt == 3) continue;
    const auto promoted = queue.promote(id);
    expect(promoted.ok(), "it could not be promoted");
  }
  return "three attempts, in turn";
}

std::string exponential_backoff_waits(Pair& pair) {
  const Json options{{"attempts", 3}, {"backoff", {{"type", "exponential"}, {"delay", 100}}}};
  pair.works.work(pair.queue, {{"fail_before", 3}});
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", options}})).at(0);
  pair.adds.job_in(pair.queue, id, "completed");
  const auto runs = pair.works.runs(3);
  const auto between = [&](std::size_t i) {
    return runs.at(i).at("began_ms").get<std::int64_t>() -
           runs.at(i - 1).at("began_ms").get<std::int64_t>();
  };
  expect(between(1) >= 95 && between(2) >= 195,
         fmt::format("it waited {} and {} ms", between(1), between(2)));
  return fmt::format("waited {} and {} ms", between(1), between(2));
}

std::string last_failure_is_read(Pair& pair) {
  pair.works.work(pair.queue, {{"fail_before", 9}});
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", {{"attempts", 2}}}})).at(0);
  const auto job = pair.adds.job_in(pair.queue, id, "failed");
  auto reason = job.at("failed_reason").get<std::string>();
  expect(reason.find("attempt 2") != std::string::npos, "its reason is " + reason);
  return reason;
}

std::string own_ids_are_once(Pair& pair) {
  const Json options{{"id", "order-1"}};
  const auto first = pair.adds.add_one(pair.queue, "x", options);
  expect(first.value("id", "") == "order-1", "the first add answered " + first.dump());
  const auto second = pair.works.add_one(pair.queue, "y", options);
  expect(second.value("code", "") == "duplicate", "the second add answered " + second.dump());
  pair.works.work(pair.queue);
  const auto job = pair.adds.job_in(pair.queue, "order-1", "completed");
  expect(job.at("data") == to_base64("x"), "the second add has changed the job");
  return "the second add is a duplicate";
}

std::string deduplication_holds(Pair& pair) {
  const Json simple{{"deduplication", {{"id", "d"}}}};
  const auto first = pair.adds.add_one(pair.queue, "x", simple);
  const auto second = pair.works.add_one(pair.queue, "y", simple);
  expect(second == Json({{"id", first.at("id")}, {"deduplicated", true}}),
         "the second add answered " + second.dump());
  pair.works.work(pair.queue);
  pair.adds.job_in(pair.queue, first.at("id"), "completed");
  const auto third = pair.adds.add_one(pair.queue, "z", simple);
  expect(!third.value("deduplicated", true), "after its end the id is still owned");
  // The newer one takes the place of one that is delayed.
  const Json last{
      {"delay", 200},
      {"deduplication", {{"id", "e"}, {"ttl", 60'000}, {"extend", true}, {"replace", true}}}};
  const auto older = pair.works.add_one(pair.queue, "older", last);
  const auto newer = pair.adds.add_one(pair.queue, "newer", last);
  expect(!newer.value("deduplicated", true), "the newer add answered " + newer.dump());
  pair.adds.job_in(pair.queue, newer.at("id"), "completed");
  expect(pair.works.job(pair.queue, older.at("id")).is_null(), "the older one is still there");
  return "owned, freed by the end, replaced";
}

std::string nothing_is_kept(Pair& pair) {
  const Json none{{"keep_completed", {{"count", 0}, {"age", 0}, {"bytes", 0}}}};
  pair.works.work(pair.queue);
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", none}})).at(0);
  pair.works.runs(1);
  eventually("the job is gone", [&] { return pair.adds.job(pair.queue, id).is_null(); });
  return "gone after its end";
}

std::string expired_is_not_run(Pair& pair) {
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", {{"expires_in", 1}}}})).at(0);
  const auto added = pair.adds.job(pair.queue, id).at("added_ms").get<std::int64_t>();
  eventually("its time is over", [&] { return pair.onlooker.server_time_ms() > added + 50; });
  pair.works.work(pair.queue);
  const auto job = pair.adds.job_in(pair.queue, id, "failed");
  const auto reason = job.at("failed_reason").get<std::string>();
  expect(reason.starts_with("expired: "), "its reason is " + reason);
  const auto runs = pair.works.ask({{"do", "runs"}}).at("runs");
  expect(runs.empty(), "its handler was called");
  return "failed unworked";
}

std::string trace_goes_on(Pair& pair) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  pair.works.work(pair.queue);
  pair.adds.add(pair.queue, jobs_of({{"x", {{"traceparent", trace}}}}));
  expect(pair.works.runs(1).at(0).at("traceparent") == trace, "the handler saw another trace");
  return "its handler is told of it";
}

bool are_one_double(const std::vector<std::string>& ids) {
  std::set<double> numbers;
  for (const auto& id : ids) numbers.insert(std::stod(id));
  return numbers.size() < ids.size();
}

// Numbers that a double cannot tell apart: those at the ends of what a double and an id hold, by
// whoever can make them, and those that the one who adds mints itself, many in a millisecond.
std::string ids_are_whole(Pair& pair) {
  const std::vector<std::string> planted{"1",
                                         "9007199254740991",
                                         "9007199254740992",
                                         "9007199254740993",
                                         "9007199254740995",
                                         "4611686018427387905",
                                         "9223372036854775806",
                                         "9223372036854775807"};
  auto& plants = pair.adds.can("plant") ? pair.adds : pair.works;
  plants.ask({{"do", "plant"}, {"queue", pair.queue}, {"ids", planted}, {"data", to_base64("x")}});
  auto ids = pair.adds.add(pair.queue, jobs_of(Jobs(64, Jobs::value_type{"x", Json::object()})));
  expect(are_one_double(ids), pair.adds.name() + " minted ids that are apart as doubles too");
  ids.insert(ids.end(), planted.begin(), planted.end());
  pair.works.work(pair.queue, {{"concurrency", 2}});
  for (const auto& id : ids) {
    const auto job = pair.adds.job_in(pair.queue, id, "completed");
    expect(job.at("id") == id, "job " + id + " is called " + job.at("id").dump());
  }
  std::set<std::string> ran;
  for (const auto& run : pair.works.runs(ids.size())) ran.insert(run.at("id"));
  expect(ran == std::set<std::string>(ids.begin(), ids.end()), "other ids were worked");
  return fmt::format("{} that {} minted, {} up to 2^63-1 of {}", ids.size() - planted.size(),
                     pair.adds.name(), planted.size(), plants.name());
}

std::string events_are_heard(Pair& pair) {
  for (auto* member : {&pair.adds, &pair.works})
    member->ask({{"do", "listen"}, {"queue", pair.queue}});
  pair.works.work(pair.queue);
  const auto ids =
      pair.adds.add(pair.queue, jobs_of({{"a", Json::object()}, {"b", {{"delay", 50}}}}));
  for (const auto& id : ids) pair.adds.job_in(pair.queue, id, "completed");
  const auto heard = [&](Member& member) {
    return member.ask({{"do", "heard"}, {"queue", pair.queue}}).at("events");
  };
  const std::set<std::string> expected{"added " + ids[0],     "added " + ids[1],
                                       "delayed " + ids[1],   "promoted " + ids[1],
                                       "completed " + ids[0], "completed " + ids[1]};
  for (auto* member : {&pair.adds, &pair.works})
    eventually(member->name() + " has heard all",
               [&] { return heard(*member).size() >= expected.size(); });
  const auto all = heard(pair.adds);
  expect(heard(pair.works) == all,
         "the two heard " + all.dump() + " and " + heard(pair.works).dump());
  expect(std::set<std::string>(all.begin(), all.end()) == expected, "heard was " + all.dump());
  return fmt::format("{} events, the same in both", all.size());
}

std::string paused_and_removed(Pair& pair) {
  pair.works.work(pair.queue);
  const auto first = pair.adds.add(pair.queue, jobs_of({{"x", Json::object()}})).at(0);
  pair.adds.job_in(pair.queue, first, "completed");
  pair.adds.ask({{"do", "pause"}, {"queue", pair.queue}});
  const auto ids =
      pair.works.add(pair.queue, jobs_of({{"x", Json::object()}, {"y", Json::object()}}));
  const auto counts = pair.adds.ask({{"do", "counts"}, {"queue", pair.queue}});
  expect(counts.at("paused") == true && counts.at("waiting") == 2, "counted " + counts.dump());
  pair.adds.ask({{"do", "remove"}, {"queue", pair.queue}, {"id", ids[0]}});
  expect(pair.works.job(pair.queue, ids[0]).is_null(), "the removed job is still there");
  pair.works.ask({{"do", "resume"}, {"queue", pair.queue}});
  pair.adds.job_in(pair.queue, ids[1], "completed");
  return "paused by one, resumed by the other";
}

// The worker of a runtime is killed in the middle, and its job runs in the other one.
std::string killed_and_recovered(Pair& pair) {
  constexpr int kLeaseMs = 2'000;
  const auto id = pair.adds.add(pair.queue, jobs_of({{"x", Json::object()}})).at(0);
  {
    auto victim = pair.another_worker();
    victim.work(pair.queue, {{"lease_ms", kLeaseMs}, {"hang", true}});
    victim.runs(1);
    victim.kill();
  }
  pair.adds.work(pair.queue, {{"lease_ms", kLeaseMs}, {"name", "survivor"}});
  const auto job = pair.adds.job_in(pair.queue, id, "completed");
  pair.adds.stop();
  expect(job.at("crashes") == 1, "it went through " + job.at("crashes").dump() + " crashes");
  expect(job.at("worker") == "survivor", "it was worked by " + job.at("worker").dump());
  return "killed in " + pair.works.name() + ", completed in " + pair.adds.name();
}

// Children that one runtime ends release the parent that the other one added.
std::string children_release_their_parent(Pair& pair) {
  const auto parents = pair.queue + "-parents";
  const Json data{to_base64("one"), to_base64("two")};
  const auto id =
      pair.adds.ask({{"do", "flow"}, {"parent", parents}, {"child", pair.queue}, {"data", data}})
          .at("id")
          .get<std::string>();
  expect(pair.adds.job(parents, id).at("state") == "waiting-children", "the parent does not wait");
  pair.works.work(pair.queue);
  pair.adds.work(parents);
  const auto parent = pair.adds.job_in(parents, id, "completed");
  const auto children = pair.adds.runs(1).at(0).at("children");
  expect(std::set<std::string>(children.begin(), children.end()) ==
             std::set<std::string>(data.begin(), data.end()),
         "the parent was given " + children.dump());
  expect_same(pair, parents, parent);
  return "with the results of two children";
}

// Who fires no schedulers leaves their ticks to the other one, though it may be told of them first.
std::string ticks_are_not_lost(Pair& pair) {
  constexpr int kTicks = 3;
  pair.works.work(pair.queue, {{"name", "works"}});
  pair.adds.ask({{"do", "schedule"}, {"queue", pair.queue}, {"every_ms", 300}, {"limit", kTicks}});
  pair.adds.work(pair.queue, {{"name", "adds"}});
  eventually("each tick has made its job", [&] {
    return pair.works.ask({{"do", "counts"}, {"queue", pair.queue}}).at("completed") == kTicks;
  });
  return fmt::format("{} ticks, {} jobs", kTicks, kTicks);
}

bool always(const Pair& /*pair*/) { return true; }

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"bytes come back", always, bytes_come_back},
      {"options are read", always, options_are_read},
      {"order is kept", always, order_is_kept},
      {"a delay passes", always, delay_passes},
      {"retries cross runtimes", always, retries_cross},
      {"backoff waits", always, exponential_backoff_waits},
      {"the last failure is read", always, last_failure_is_read},
      {"an own id is once", always, own_ids_are_once},
      {"deduplication holds", always, deduplication_holds},
      {"nothing is kept", always, nothing_is_kept},
      {"the expired is not run", always, expired_is_not_run},
      {"a trace goes on", always, trace_goes_on},
      {"ids are whole",
       [](const Pair& pair) { return pair.adds.can("plant") || pair.works.can("plant"); },
       ids_are_whole},
      {"events are heard", always, events_are_heard},
      {"paused and removed", always, paused_and_removed},
      {"children release their parent", [](const Pair& pair) { return pair.adds.can("flow"); },
       children_release_their_parent},
      {"ticks are not lost", [](const Pair& pair) { return pair.adds.can("schedule"); },
       ticks_are_not_lost},
      {"killed and recovered", always, killed_and_recovered}};
  return all;
}

}  // namespace fleet

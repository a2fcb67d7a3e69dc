// SPDX-License-Identifier: MIT
// What concerns one queue: its fence, what stands still, and what has lost its other half. Samples
// are bounded; what moves while it is looked at is looked at twice.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "echomq/keyspace.h"
#include "job/record.h"
#include "job/reference.h"
#include "ops/patient.h"
#include "protocol/lease.h"
#include "protocol/version.h"
#include "queue/outbox.h"
#include "queue/queue_keys.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::ops {
namespace {

constexpr std::int64_t kGrace = 60'000;  // ms; who is late by less will be worked on presently

class QueueExamination {
 public:
  QueueExamination(Patient& patient, const std::string& name)
      : patient_(patient), name_(name), keys_(name) {}

  void run() {
    if (!examine_fence()) return;
    examine_work();
    examine_leases();
    examine_timers();
    examine_orphans();
    examine_parents();
  }

 private:
  // False where the rest would be of another wire's keys.
  bool examine_fence() {
    const auto meta = patient_.ask({"HMGET", keys_.meta, "version", "min_revision", "pause"});
    if (!meta || meta->items.size() != 3) {
      const auto wrong_type = patient_.denied().find("WRONGTYPE") != std::string::npos;
      if (wrong_type)
        patient_.tell("fence", Health::bad, "meta is no hash",
                      "something else stands in the queue's place: look at TYPE " + keys_.meta);
      else
        patient_.tell_unknown("fence");
      return false;
    }
    paused_ = !meta->items[2].is_null();
    if (meta->items[0].is_null()) {
      patient_.tell("fence", Health::warning, "the queue is listed and has no meta",
                    "it was obliterated or lost; opening it makes it again");
      return false;
    }
    if (meta->items[0].text == std::string(kWireVersion) + ":migrating") {
      patient_.tell(
          "fence", Health::bad, "a migration from v1 fills the queue, and nobody may use it",
          "`emq migrate run " + name_ + "` goes on with it, `emq migrate finish " + name_ +
              "` ends it, `emq migrate abort " + name_ + "` gives v1 back what it had");
      return false;
    }
    if (meta->items[0].text != kWireVersion) {
      patient_.tell("fence", Health::bad, "the queue is of " + meta->items[0].text,
                    "this release refuses it; use the one that made it, or migrate; `emq fence " +
                        name_ + "` tells whether a v1 client has written here, and repairs that");
      return false;
    }
    for (const auto& sentinel : {keys_.id, keys_.repeat}) {
      const auto value = patient_.ask({"GET", sentinel});
      if (value && value->text == kWireVersion) continue;
      if (!value && patient_.denied().find("WRONGTYPE") == std::string::npos) {
        patient_.tell_unknown("fence");
        return true;
      }
      patient_.tell("fence", Health::bad,
                    sentinel + (value && value->is_null() ? " is missing" : " was overwritten"),
                    "a v1 client may have been pointed at this queue: find it; opening the queue "
                    "puts a missing one back");
      return true;
    }
    const auto revision =
        meta->items[1].is_null() ? std::string() : ", from revision " + meta->items[1].text + " on";
    patient_.tell("fence", Health::good, meta->items[0].text + revision);
    return true;
  }

  // When jobs were last made ready, of those that the newest events name. The hash of a job that
  // was promoted early, recovered, or released by its children does not tell.
  [[nodiscard]] std::map<std::string, std::int64_t, std::less<>> made_ready() const {
    std::map<std::string, std::int64_t, std::less<>> times;
    const auto newest = patient_.ask(
        {"XREVRANGE", keys_.events, "+", "-", "COUNT", std::to_string(patient_.options.sample)});
    if (!newest) return times;
    constexpr std::array<std::string_view, 5> kReady{"promoted", "retried", "released", "recovered",
                                                     "ready"};
    for (const auto& entry : newest->items) {
      if (entry.items.size() != 2) continue;
      const auto& fields = entry.items[1].items;
      if (fields.size() < 2 || fields[0].text != "at") continue;
      const auto at = to_number<std::int64_t>(fields[1].text);
      for (std::size_t i = 2; i + 1 < fields.size(); i += 2) {
        if (std::find(kReady.begin(), kReady.end(), fields[i].text) == kReady.end()) continue;
        std::istringstream ids(fields[i + 1].text);
        for (std::string id; ids >> id;) times.emplace(id, at);
      }
    }
    return times;
  }

  // How long it has been ready, as far as its hash and the events tell; 0: it has none.
  [[nodiscard]] std::int64_t waited(
      const std::string& id, const std::map<std::string, std::int64_t, std::less<>>& events) const {
    const auto kept = patient_.ask({"HMGET", job_key(name_, id), "head", "run"});
    if (!kept || kept->items.size() != 2) return 0;
    const auto head = job::read_head(kept->items[0].text);
    if (!head) return 0;
    auto since = head->added_ms;
    if (const auto runs = job::read_runs(kept->items[1].text))
      since = std::max(since, runs->ended_ms);
    if (const auto event = events.find(id); event != events.end())
      since = std::max(since, event->second);
    return patient_.now_ms - since;
  }

  // Of each priority the one that is taken next: who is never reached has a low one.
  [[nodiscard]] std::vector<std::string> first_of_each_priority() const {
    constexpr auto kUnit = std::int64_t{1} << 32;
    std::vector<std::string> ids;
    std::int64_t priority = 0;
    while (ids.size() < patient_.options.sample) {
      const auto next = patient_.ask({"ZRANGE", keys_.prioritized, std::to_string(priority * kUnit),
                                      "+inf", "BYSCORE", "LIMIT", "0", "1", "WITHSCORES"});
      if (!next || next->items.size() != 2) break;
      ids.push_back(next->items[0].text);
      priority = to_number<std::int64_t>(next->items[1].text) / kUnit + 1;
    }
    return ids;
  }

  // The jobs that are taken next have waited the longest, but for lifo.
  void examine_work() {
    auto ids = first_of_each_priority();
    for (const auto& list : {keys_.wait, keys_.crashed})
      for (const auto* const end : {"0", "-1"})
        if (const auto job = patient_.ask({"LINDEX", list, end}); job && !job->text.empty())
          ids.push_back(job->text);
    std::int64_t oldest = 0;
    std::string which;
    const auto events = made_ready();
    for (const auto& id : ids)
      if (const auto time = waited(id, events); time > oldest) {
        oldest = time;
        which = id;
      }
    const auto active = patient_.count({"ZCOUNT", keys_.active, "-inf", "(inf"});
    if (active < 0) return patient_.tell_unknown("oldest waiting job");
    if (which.empty()) return patient_.tell("oldest waiting job", Health::good, "none waits");
    const auto found =
        which + " has waited " + spoken_time(oldest) + ", and " + std::to_string(active) + " run";
    if (paused_)
      return patient_.tell("oldest waiting job",
                           oldest > kGrace * 10 ? Health::warning : Health::good,
                           found + "; the queue is paused", "`emq resume` lets it go on");
    if (oldest > kGrace * 10 && active == 0)
      return patient_.tell(
          "oldest waiting job", Health::bad, found,
          "no worker takes jobs: is one running, is a limit closed (`emq limit`)?");
    if (oldest > kGrace * 60)
      return patient_.tell("oldest waiting job", Health::warning, found,
                           "workers do not keep up: start more, or raise their concurrency");
    patient_.tell("oldest waiting job", Health::good, found);
  }

  void examine_leases() {
    const auto below = Lease::expired_below(patient_.now_ms - kGrace);
    const auto expired =
        patient_.count({"ZCOUNT", keys_.active, "-inf", "(" + std::to_string(below)});
    if (expired < 0) return patient_.tell_unknown("leases");
    if (expired > 0)
      return patient_.tell("leases", Health::bad,
                           std::to_string(expired) + " expired more than a minute ago",
                           "their workers died and nobody recovers them: start a worker");
    patient_.tell("leases", Health::good, "none has expired for long");
  }

  void examine_timers() {
    const auto late = std::to_string(patient_.now_ms - kGrace);
    for (const auto& [set, what] : {std::pair{keys_.delayed, "delayed jobs"},
                                    std::pair{keys_.schedules, "ticks of schedulers"}}) {
      const auto due = patient_.count({"ZCOUNT", set, "-inf", late});
      if (due < 0) return patient_.tell_unknown("timers");
      if (due > 0)
        return patient_.tell("timers", Health::bad,
                             std::to_string(due) + " " + what + " are a minute overdue",
                             "workers keep the time: start one");
    }
    patient_.tell("timers", Health::good, "nothing is overdue");
  }

  // Some ids of each state, from both ends.
  std::vector<std::string> sampled_ids() {
    const auto half = std::to_string(std::max<std::size_t>(1, patient_.options.sample / 2) - 1);
    const auto other = "-" + std::to_string(std::max<std::size_t>(1, patient_.options.sample / 2));
    std::set<std::string> ids;
    const auto take = [&](const std::string& command, const std::string& key) {
      for (const auto& [first, last] : {std::pair<std::string, std::string>{"0", half},
                                        std::pair<std::string, std::string>{other, "-1"}})
        if (const auto page = patient_.ask({command, key, first, last}))
          for (const auto& id : probe::texts(*page))
            // Neither an emptied entry of the line nor the sentinel of `active` is an id.
            if (!id.empty() && check_any_job_id(id)) ids.insert(id);
    };
    for (const auto& list : {keys_.wait, keys_.crashed}) take("LRANGE", list);
    for (const auto& set : {keys_.prioritized, keys_.active, keys_.delayed, keys_.waiting_children,
                            keys_.completed, keys_.failed})
      take("ZRANGE", set);
    return {ids.begin(), ids.end()};
  }

  bool has_hash(const std::string& id) {
    return patient_.count({"EXISTS", job_key(name_, id)}) != 0;
  }

  bool stands_somewhere(const std::string& id) {
    for (const auto& set : {keys_.active, keys_.prioritized, keys_.delayed, keys_.waiting_children,
                            keys_.completed, keys_.failed})
      if (const auto score = patient_.ask({"ZSCORE", set, id}); !score || !score->is_null())
        return true;
    if (patient_.count({"SISMEMBER", keys_.trash, id}) != 0) return true;
    for (const auto& list : {keys_.wait, keys_.crashed}) {
      // A look through a long line would hold the server up.
      if (patient_.count({"LLEN", list}) > 10'000) return true;
      if (const auto place = patient_.ask({"LPOS", list, id}); !place || !place->is_null())
        return true;
    }
    return false;
  }

  // Job hashes among some keys of the server; a cursor is not followed further.
  std::vector<std::string> sampled_hashes() {
    std::vector<std::string> ids;
    std::string cursor = "0";
    for (int page = 0; page < 10; ++page) {
      const auto some =
          patient_.ask({"SCAN", cursor, "MATCH", "emq:{" + name_ + "}:*", "COUNT", "500"});
      if (!some || some->items.size() != 2) return ids;
      for (const auto& key : probe::texts(some->items[1]))
        if (const auto parsed = parse_key(key);
            parsed && parsed->kind == KeyKind::job && ids.size() < patient_.options.sample)
          ids.push_back(parsed->id);
      cursor = some->items[0].text;
      if (cursor == "0") break;
    }
    return ids;
  }

  void examine_orphans() {
    std::vector<std::string> without_hash;
    std::vector<std::string> nowhere;
    const auto ids = sampled_ids();
    for (const auto& id : ids)
      // It may have ended since.
      if (!has_hash(id) && stands_somewhere(id) && !has_hash(id) &&
          patient_.count({"SISMEMBER", keys_.trash, id}) == 0)
        without_hash.push_back(id);
    const auto hashes = sampled_hashes();
    for (const auto& id : hashes)
      if (!stands_somewhere(id) && !stands_somewhere(id) && has_hash(id)) nowhere.push_back(id);
    const auto looked = " of " + std::to_string(ids.size()) + " ids and " +
                        std::to_string(hashes.size()) + " hashes";
    if (!without_hash.empty() || !nowhere.empty()) {
      const auto& some = without_hash.empty() ? nowhere : without_hash;
      patient_.tell("orphans", Health::warning,
                    std::to_string(without_hash.size()) + " ids without a job and " +
                        std::to_string(nowhere.size()) + " jobs in no state" + looked + "; " +
                        some.front() + " is one",
                    "somebody deleted keys by hand, or the server lost its last data: ids are "
                    "dropped when a worker meets them; a job in no state can be read by `emq job`, "
                    "removed by `emq remove`, and added again");
      return;
    }
    patient_.tell("orphans", Health::good, "none" + looked);
  }

  // Why a parent that waits cannot run any more; empty: it can.
  std::string stuck(const std::string& id) {
    const auto sub = job_key(name_, id, Sub::dependencies);
    // Of a flow that is being added children come yet.
    if (const auto plan = patient_.ask({"HGET", job_key(name_, id), "plan"});
        plan && !plan->text.empty()) {
      const auto [home, plan_id] = job::read_reference(plan->text);
      if (!home.empty() &&
          patient_.count({"HEXISTS", key(home, Structure::outbox), plan_field(plan_id)}) != 0)
        return {};
    }
    const auto children = patient_.ask({"HSCAN", sub, "0", "COUNT", "20"});
    if (!children || children->items.size() != 2) return {};
    const auto& pairs = children->items[1].items;
    if (pairs.empty())
      return patient_.count({"HLEN", sub}) == 0 && waits(id)
                 ? "it waits for no child, and nobody released it"
                 : "";
    for (std::size_t i = 0; i + 1 < pairs.size() && i < 40; i += 2) {
      const auto [queue, child] = job::read_reference(pairs[i].text);
      if (patient_.count({"EXISTS", job_key(queue, child)}) != 0) continue;
      if (patient_.count(
              {"HEXISTS", key(queue, Structure::outbox), message_field(child, name_, id)}) != 0)
        continue;
      // What was delivered meanwhile has moved the edge.
      if (patient_.count({"HEXISTS", sub, pairs[i].text}) == 1)
        return "child " + pairs[i].text + " is gone, and nothing tells how it ended";
    }
    return {};
  }

  bool waits(const std::string& id) {
    const auto since = patient_.ask({"ZSCORE", keys_.waiting_children, id});
    return since && !since->is_null();
  }

  void examine_parents() {
    const auto parents = patient_.ask(
        {"ZRANGE", keys_.waiting_children, "0", std::to_string(patient_.options.sample - 1)});
    if (!parents) return patient_.tell_unknown("parents");
    const auto advice =
        "`emq flow stuck " + name_ + "` lists all; remove such a parent and add it anew";
    for (const auto& id : probe::texts(*parents))
      if (const auto why = stuck(id); !why.empty())
        return patient_.tell("parents", Health::bad,
                             std::string(id).append(" is stuck: ").append(why), advice);
    patient_.tell("parents", Health::good,
                  "none of " + std::to_string(parents->items.size()) + " that wait is stuck");
  }

  Patient& patient_;
  std::string name_;
  QueueKeys keys_;
  bool paused_ = false;
};

}  // namespace

void examine_queue(Patient& patient, const std::string& name) {
  patient.queue = name;
  QueueExamination(patient, name).run();
  patient.queue.clear();
}

}  // namespace echomq::inline v2::ops

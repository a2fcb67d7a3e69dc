// SPDX-License-Identifier: MIT
// The numbered invariants, over a random life of a queue and what was declared in it.
#include <set>
#include <string>

#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "probe/scene.h"
#include "probe/seeded.h"
#include "probe/states.h"
#include "probe/trial.h"
#include "probe/workload.h"
#include "protocol/v1_names.h"

namespace echomq::inline v2::probe {
namespace {

constexpr int kSteps = 400;

// All keys of one queue, and nothing but keys of this wire, in one slot.
void keys_have_one_hashtag(Trial& trial) {
  std::size_t keys = 0;
  std::set<std::string> seen;
  for (const auto& exercise : exercises()) {
    if (trial.stopped()) return;
    if (!seen.insert(exercise.script).second) continue;
    auto& q = trial.queue();
    Scene scene(q);
    exercise.call(scene);
    const auto own = slot(q.keys.meta);
    for (const auto& key : q.declared) {
      const auto parsed = parse_key(key);
      if (!parsed && is_v1_word_key(key) && slot(key) == own) continue;  // to be repaired
      if (!parsed)
        trial.fail(exercise.script + " declares " + key + ": " + parsed.error().detail);
      else if (parsed->queue != q.name() || slot(key) != own)
        trial.fail(exercise.script + " declares " + key + ", which is not in the slot of " +
                   q.name());
    }
    keys += q.declared.size();
    trial.drop(q);
  }
  const auto info = show(trial.link()({"INFO", "cluster"}));
  const bool cluster = info.find("cluster_enabled:1") != std::string::npos;
  trial.note(std::to_string(keys) + " keys declared" +
             (cluster ? "; the server is a node of a cluster and took every call" : ""));
}

void random_life_is_pure(Trial& trial) {
  for (const std::uint32_t seed : {1U, 2U}) {
    trial.recorder().forget();
    auto& q = trial.open_queue();
    Workload workload(q, seed);
    for (int i = 0; i < kSteps && !trial.stopped(); ++i) workload.step();
    trial.expect("what differs when seed " + std::to_string(seed) + " is said again",
                 trial.difference_when_said_again(q), "");
  }
  trial.note(std::to_string(2 * kSteps) + " steps said again about another queue");
}

// A check that sees nothing proves nothing.
void impure_scripts_are_seen(Trial& trial) {
  std::size_t judged = 0;
  std::string refused;
  for (const auto& impure : kImpure) {
    trial.recorder().forget();
    auto& q = trial.open_queue();
    std::vector<std::string> words{"SADD", q.keys.trash};
    for (int i = 0; i < 1'000; ++i) words.push_back(std::to_string(i));
    q.redis()(words);
    // Chance might choose alike once, not eight times.
    bool denied = false;
    for (int i = 0; i < 8 && !denied; ++i) {
      const auto reply = q.redis()({"EVAL", impure.source, "2", q.keys.wait, q.keys.trash});
      denied = reply.is_error();
      if (denied) refused = reply.text;
    }
    if (denied) continue;  // an ACL, or the server itself, allows no such script
    ++judged;
    if (trial.difference_when_said_again(q).empty())
      trial.fail("a script that reads " + std::string(impure.name) + " was not seen");
  }
  if (judged == 0) return trial.skip("every impure script was refused: " + refused);
  trial.note(std::to_string(judged) + " of " + std::to_string(kImpure.size()) + " seen" +
             (refused.empty() ? "" : ", the others refused: " + refused));
}

// As numbers of Lua or JavaScript these would be others.
void ids_are_text(Trial& trial) {
  for (const std::string id : {"9007199254740993", "274557032793636865", "9223372036854775807"}) {
    auto& q = trial.open_queue();
    trial.expect("job/add", statuses(q.add({{.id = id, .custom = false}})), "ok");
    const auto claimed = q.claim(1);
    trial.expect("the id that is claimed", claimed.ids(), id);
    if (claimed.runs.empty()) continue;
    trial.expect("job/finish", statuses(q.finish({{.run = claimed.runs.front()}})), "ok");
    trial.expect("the id in completed", show(trial.link()({"ZRANGE", q.keys.completed, "0", "0"})),
                 "[" + id + "]");
    const auto events = show(trial.link()({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"}));
    trial.expect("the last event names " + id, events.find(id) != std::string::npos);
    const auto branded = brand_id(id);
    trial.expect("the branded form and back",
                 branded ? unbrand_id(*branded).value_or("") : branded.error().detail, id);
  }
}

// Each job that was acknowledged is in one state at any time.
void random_life_loses_nothing(Trial& trial) {
  for (const std::uint32_t seed : {11U, 12U}) {
    auto& q = trial.open_queue();
    Workload workload(q, seed);
    for (int i = 0; i < kSteps && !trial.stopped(); ++i) {
      workload.step();
      if (i % 10 == 0)
        for (const auto& odd : jobs_out_of_state(trial.link(), q))
          trial.fail("seed " + std::to_string(seed) + ", step " + std::to_string(i) + ": " + odd);
      if (trial.failed()) return;
    }
  }
}

// Of a foreign kind: everything that the scripts can be told.
void hostile_bytes_come_back(Trial& trial) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  auto& q = trial.open_queue();
  trial.expect("job/add", statuses(q.add({{.id = "a", .name = bytes, .data = bytes}})), "ok");
  const auto claimed = q.claim(1);
  if (!trial.expect("job/claim takes it", claimed.runs.size() == 1)) return;
  trial.expect("the data comes back", q.field("a", "data") == bytes);
  trial.expect("the name comes back",
               q.field("a", "head").find(":256:" + bytes) != std::string::npos);
  q.finish({{.run = claimed.runs.front(), .value = bytes}});
  trial.expect("the result comes back", q.field("a", "returnvalue") == bytes);
}

}  // namespace

std::vector<ScenarioEntry> invariant_scenarios() {
  return {{"keys: one hashtag a queue, and every key parses", "INV3", keys_have_one_hashtag},
          {"purity: a random life said again leaves the same", "INV4", random_life_is_pure},
          {"purity: an impure script is seen", "INV4", impure_scripts_are_seen},
          {"ids: cross as text, beyond 2^53 too", "INV5", ids_are_text},
          {"jobs: each is in one state through a random life", "INV7", random_life_loses_nothing},
          {"jobs: any bytes come back", "INV7", hostile_bytes_come_back}};
}

}  // namespace echomq::inline v2::probe

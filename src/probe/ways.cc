// SPDX-License-Identifier: MIT
#include "probe/ways.h"

#include "probe/planned.h"

namespace echomq::inline v2::probe {
namespace {

// A flow of one parent and one child, whose end lets the parent go on.
Reply release_parent(Scene& s, const PlanJob& parent) {
  const auto tree =
      plan_of(s.q.name() + ":5", {parent, {.queue = s.q.name(), .id = "nc", .parent = 0}});
  s.q.add_flow(s.q.name() + ":5", tree);
  return s.q.settle({{.parent = parent.id, .ref = s.q.name() + ":nc"}});
}

// The add that is kept for the end of an owner.
Reply end_owner_of(Scene& s, const JobToAdd& kept) {
  s.q.add_deduplicated({kept});
  s.q.finish({{.run = s.run("own_k")}});
  return s.q.end_deduplication({{"K", "own_k", kept.id}});
}

Reply finish_with_oldest(Scene& s, bool completed, const std::vector<std::string>& oldest) {
  // Where a job has sub-keys all go by the trash.
  s.q.redis()({"DEL", s.q.keys.subkeys});
  s.q.keep_completed = s.q.keep_failed = {.count = 2};
  return s.q.finish({{.run = s.run("a1"), .completed = completed}}, {.oldest = oldest, .peek = 2});
}

}  // namespace

const std::vector<Exercise>& further_exercises() {
  static const std::vector<Exercise> all{
      {"flow/add",
       [](Scene& s) {
         return s.q.add_flow(
             s.q.name() + ":5",
             plan_of(s.q.name() + ":5",
                     {{.queue = s.q.name(), .id = "np"},
                      {.queue = s.q.name(), .id = "nw", .parent = 0},
                      {.queue = s.q.name(), .id = "nr", .parent = 0, .priority = 2}}));
       }},
      {"flow/settle",
       [](Scene& s) {
         return release_parent(s, {.queue = s.q.name(), .id = "np", .priority = 2});
       }},
      {"flow/settle",
       [](Scene& s) {
         return release_parent(s, {.queue = s.q.name(), .id = "np", .delay = 5'000});
       }},
      {"flow/delivered",
       [](Scene& s) { return s.q.delivered({{.field = "fg scene:fp", .seen = "1:f:"}}); }},
      {"deduplication/end",
       [](Scene& s) {
         return end_owner_of(s, {.id = "kept", .priority = 3, .de = "K", .how = "k"});
       }},
      {"deduplication/end",
       [](Scene& s) {
         return end_owner_of(s, {.id = "kept", .delay = 500, .de = "K", .how = "k"});
       }},
      {"job/finish",
       [](Scene& s) {
         return finish_with_oldest(s, true, {"f1", "f2"});
       }},
      {"job/finish",
       [](Scene& s) {
         return finish_with_oldest(s, false, {"fg", "g1", "g2"});
       }},
      {"schedule/fire",
       [](Scene& s) {
         const auto tick = std::to_string(s.q.now);
         s.q.put_scheduler({.id = "s6", .next = tick});
         return s.q.fire({{.id = "s6", .tick = tick}});
       }},
      {"job/retry_finished",
       [](Scene& s) {
         for (const auto* const id : {"f1", "g1"})
           s.q.redis()({"HSET", s.q.job(id), "priority", "3", "place", "12884901889"});
         return s.q.retry_finished({"f1", "g1"});
       }},
      {"job/remove",
       [](Scene& s) {
         return s.q.remove({"g2", "p2", "w2", "dn", "f2", "fp"});
       }},
      // Of one that stands in no state any more.
      {"job/remove",
       [](Scene& s) {
         s.q.redis()({"LREM", s.q.keys.wait, "1", "w1"});
         return s.q.remove({"w1", "c1", "a1", "never"}, {.seen = -2});
       }},
  };
  return all;
}

}  // namespace echomq::inline v2::probe

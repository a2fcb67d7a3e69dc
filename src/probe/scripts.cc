// SPDX-License-Identifier: MIT
// A scenario for each script: every exercise of it on a scene with something in each state. What is
// answered, which ways jobs take, that each job is in one state afterwards (INV7), and that all of
// it said again about another queue leaves the same there (INV4).
#include <set>
#include <string>
#include <utility>

#include "probe/answers.h"
#include "probe/scene.h"
#include "probe/states.h"
#include "probe/trial.h"
#include "probe/ways.h"

namespace echomq::inline v2::probe {
namespace {

std::string joined(const std::set<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string words_of(const Transition& way) {
  return std::string(way.from) + " -> " + std::string(way.to);
}

bool is_drawn(const Transition& way) {
  for (const auto& drawn : transitions())
    if (drawn == way) return true;
  return false;
}

// What the exercises of one script showed.
class ScriptTrial {
 public:
  ScriptTrial(Trial& trial, std::string_view script) : trial_(trial), script_(script) {}

  void run() {
    std::size_t n = 0;
    for (const auto* const list : {&exercises(), &further_exercises()})
      for (const auto& exercise : *list)
        if (exercise.script == script_ && !trial_.stopped()) exercise_once(exercise, n++);
    if (n == 0) trial_.fail("no exercise calls it");
    for (const auto& drawn : transitions())
      if (drawn.script == script_ && !ways_.contains(words_of(drawn)))
        trial_.fail("no job went " + words_of(drawn));
    trial_.note(std::to_string(n) + (n == 1 ? " way" : " ways") +
                (ways_.empty() ? "" : "; " + joined(ways_)));
  }

 private:
  void exercise_once(const Exercise& exercise, std::size_t n) {
    auto& recorder = trial_.recorder();
    recorder.forget();
    auto& q = trial_.queue();
    Scene scene(q);
    if (!scene.problem().empty()) return trial_.fail(scene.problem());
    watch(q);
    const auto reply = exercise.call(scene);
    q.before_call = {};
    q.after_call = {};
    check_answer(reply, n, q);
    for (const auto& odd : jobs_out_of_state(trial_.link(), q)) trial_.fail(odd);
    if (const auto differs = trial_.difference_when_said_again(q); !differs.empty())
      trial_.fail("exercise " + std::to_string(n + 1) + " is not pure: " + differs);
  }

  // The jobs' ways are those of single calls: an exercise may make several.
  void watch(ScriptQueue& q) {
    q.before_call = [this, &q] { before_ = states_of(trial_.link(), q); };
    if (is_of_migration(script_)) return;  // jobs are where v1 had them
    q.after_call = [this, &q](const Script& script) {
      for (const auto& way : changes(script.name, before_, states_of(trial_.link(), q))) {
        if (!is_drawn(way))
          trial_.fail(std::string(script.name) + " moved a job " + words_of(way) +
                      ", which docs/states.md does not know");
        if (script.name == script_) ways_.insert(words_of(way));
      }
    };
  }

  void check_answer(const Reply& reply, std::size_t n, const ScriptQueue& q) {
    const auto right = right_answer(script_, n);
    const auto where = "exercise " + std::to_string(n + 1) + " answered";
    const auto spoken = spoken_answer(reply, q);
    if (!right) return trial_.fail(where + " \"" + spoken + "\", and nothing is known of it");
    if (*right == "*")
      trial_.expect(where + " no error", !reply.is_error());
    else
      trial_.expect(where, spoken, std::string(*right));
  }

  Trial& trial_;
  std::string_view script_;
  States before_;
  std::set<std::string> ways_;
};

}  // namespace

std::vector<ScenarioEntry> script_scenarios() {
  std::vector<ScenarioEntry> all;
  for (const auto* const script : scripts::all()) {
    if (script->name == "node/lease") continue;  // of the deployment; see rules_of_queues.cc
    all.push_back({"script " + std::string(script->name), "INV4 INV7",
                   [script](Trial& trial) { ScriptTrial(trial, script->name).run(); }});
  }
  return all;
}

}  // namespace echomq::inline v2::probe

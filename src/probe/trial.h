// SPDX-License-Identifier: MIT
// What a scenario of the conformance probe works with: connections, queues of its own, and a place
// for what it finds. A scenario is a function of a Trial; where it returns without a finding it has
// passed.
//
//   void equal_priorities(Trial& trial) {
//     auto& q = trial.open_queue();
//     trial.expect("answers", statuses(q.add({{.id = "a", .priority = 3}})), "ok");
//   }
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/client.h"
#include "echomq/probe.h"
#include "probe/dump.h"
#include "probe/lane.h"
#include "probe/monitor.h"
#include "probe/recorder.h"
#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

// What all scenarios of one run share.
struct Stage {
  Client client;
  std::unique_ptr<Lane> lane;      // what the scripts are called on
  std::unique_ptr<Lane> listener;  // of MONITOR
  std::unique_ptr<Monitor> monitor;
  std::string no_audit;  // why there is no monitor
  Audit audited;         // of all scenarios so far
  std::string url;       // as it was given: the client's tells no password
  std::string prefix;    // of the names of all its queues, and of no others
  ConformanceOptions options;
  Observed observed;
  int queues = 0;
  bool was_full = false;  // the server was filled, and told so
};

class Trial {
 public:
  explicit Trial(Stage& stage) : stage_(stage) {}
  // Deletes its queues.
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // A queue that is not there yet; one that is open. All names are of one length.
  ScriptQueue& queue();
  ScriptQueue& open_queue();
  // Deletes one of them early.
  void drop(ScriptQueue& q);
  // A name for a queue that the library itself opens; it is obliterated.
  std::string library_queue();

  void fail(const std::string& why);
  void skip(const std::string& why);
  void note(const std::string& text) { note_ = text; }
  // Fails when they differ; answers whether they are equal.
  bool expect(std::string_view what, const std::string& found, const std::string& expected);
  bool expect(std::string_view what, bool holds);
  // Fails unless the reply is an error that begins so and the content of the queue's keys is what
  // it was before.
  void expect_refused(std::string_view what, ScriptQueue& q, std::string_view refusal,
                      const std::function<Reply()>& call);

  Dump dump(ScriptQueue& q);
  // Says all that the recorder holds about `q` again about another queue: the first thing that is
  // answered otherwise, or that stands there otherwise then. Empty: all of it was pure.
  std::string difference_when_said_again(ScriptQueue& q);
  [[nodiscard]] Link& link() { return *stage_.lane; }
  // What everything said through link() by the queues was, and what was answered.
  [[nodiscard]] Recorder& recorder() { return recorder_; }
  [[nodiscard]] Stage& stage() { return stage_; }
  // Whoever runs the suite wants it to end: what takes long returns, wherever it is.
  [[nodiscard]] bool stopped() const { return stage_.options.stopped && stage_.options.stopped(); }
  [[nodiscard]] bool failed() const { return !failures_.empty(); }
  // The scenario's end.
  void judge(Scenario& scenario) const;

 private:
  Stage& stage_;
  Recorder recorder_{*stage_.lane};
  std::vector<std::unique_ptr<ScriptQueue>> queues_;
  std::vector<std::string> library_queues_;
  std::vector<std::string> failures_;
  std::string skipped_;
  std::string note_;
};

struct ScenarioEntry {
  std::string name;
  std::string proves;
  std::function<void(Trial&)> run;
};

// The parts of the suite, in the order in which they run.
std::vector<ScenarioEntry> server_scenarios();
std::vector<ScenarioEntry> script_scenarios();
std::vector<ScenarioEntry> refusal_scenarios();
std::vector<ScenarioEntry> invariant_scenarios();
std::vector<ScenarioEntry> rules_of_jobs();
std::vector<ScenarioEntry> rules_of_queues();
std::vector<ScenarioEntry> library_scenarios();
ScenarioEntry contract_scenario();  // what all of them were answered
std::vector<ScenarioEntry> audit_scenarios();

// Looks at what the monitor saw since it was last asked.
Audit take_audit(Stage& stage);

}  // namespace echomq::inline v2::probe

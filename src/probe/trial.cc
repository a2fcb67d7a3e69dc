// SPDX-License-Identifier: MIT
#include "probe/trial.h"

#include <cstdio>
#include <utility>

#include "echomq/queue.h"

namespace echomq::inline v2::probe {
namespace {

// Of one length, so that what was said about one queue can be said about another.
std::string numbered(Stage& stage) {
  char number[8];
  std::snprintf(number, sizeof number, "%04d", ++stage.queues % 10'000);
  return stage.prefix + number;
}

}  // namespace

Trial::~Trial() {
  for (const auto& queue : queues_) queue->clear();
  for (const auto& name : library_queues_) {
    RawQueue queue(stage_.client, name);
    (void)queue.obliterate({.force = true, .all = true});
  }
}

ScriptQueue& Trial::queue() {
  queues_.push_back(std::make_unique<ScriptQueue>(recorder_, numbered(stage_)));
  queues_.back()->observed = &stage_.observed;
  return *queues_.back();
}

ScriptQueue& Trial::open_queue() {
  auto& q = queue();
  expect("queue/open answers", show(q.open()), "1");
  return q;
}

void Trial::drop(ScriptQueue& q) {
  q.clear();
  recorder_.forget();
  std::erase_if(queues_, [&q](const auto& queue) { return queue.get() == &q; });
}

std::string Trial::library_queue() {
  library_queues_.push_back(numbered(stage_));
  return library_queues_.back();
}

void Trial::fail(const std::string& why) { failures_.push_back(why); }

void Trial::skip(const std::string& why) { skipped_ = why; }

bool Trial::expect(std::string_view what, const std::string& found, const std::string& expected) {
  if (found == expected) return true;
  fail(std::string(what) + " \"" + found + "\"; expected \"" + expected + "\"");
  return false;
}

bool Trial::expect(std::string_view what, bool holds) {
  if (!holds) fail("not so: " + std::string(what));
  return holds;
}

void Trial::expect_refused(std::string_view what, ScriptQueue& q, std::string_view refusal,
                           const std::function<Reply()>& call) {
  // A call may arrange something first; what is compared is what stood there when it was sent.
  Dump before;
  q.before_call = [&] { before = dump(q); };
  const auto reply = call();
  q.before_call = {};
  const auto where = std::string(what) + " answered \"" + show(reply) + "\"";
  if (!reply.is_error() || !reply.text.starts_with(refusal))
    return fail(where + "; expected an error that begins with \"" + std::string(refusal) + "\"");
  if (const auto changed = difference(before, dump(q)); !changed.empty())
    fail(where + " and changed " + changed.substr(0, changed.find('\n')));
}

Dump Trial::dump(ScriptQueue& q) {
  return dump_keys(*stage_.lane, {q.declared.begin(), q.declared.end()});
}

std::string Trial::difference_when_said_again(ScriptQueue& q) {
  auto& again = queue();
  for (const auto& key : q.declared) again.declared.insert(renamed(key, q.name(), again.name()));
  if (auto answer = recorder_.replay(*stage_.lane, q.name(), again.name()); !answer.empty())
    return answer;
  const auto differs = difference(renamed(dump(q), q.name(), again.name()), dump(again));
  return differs.substr(0, differs.find('\n'));
}

void Trial::judge(Scenario& scenario) const {
  scenario.detail = note_;
  if (!failures_.empty()) {
    scenario.verdict = Verdict::failed;
    scenario.detail = failures_.front();
    if (failures_.size() > 1)
      scenario.detail += " (and " + std::to_string(failures_.size() - 1) + " more)";
  } else if (!skipped_.empty()) {
    scenario.verdict = Verdict::not_run;
    scenario.detail = skipped_;
  }
}

}  // namespace echomq::inline v2::probe

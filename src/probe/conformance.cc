// SPDX-License-Identifier: MIT
// The run of the conformance probe: connections, a prefix for its queues, one scenario after the
// other.
#include <algorithm>
#include <random>
#include <utility>

#include "client/client_core.h"
#include "echomq/probe.h"
#include "probe/trial.h"

namespace echomq::inline v2 {
namespace {

using Clock = std::chrono::steady_clock;
using probe::ScenarioEntry;

std::vector<ScenarioEntry> all_scenarios() {
  std::vector<ScenarioEntry> all;
  for (auto* const part :
       {&probe::server_scenarios, &probe::script_scenarios, &probe::refusal_scenarios,
        &probe::invariant_scenarios, &probe::rules_of_jobs, &probe::rules_of_queues,
        &probe::library_scenarios})
    for (auto& entry : part()) all.push_back(std::move(entry));
  all.push_back(probe::contract_scenario());
  for (auto& entry : probe::audit_scenarios()) all.push_back(std::move(entry));
  return all;
}

// Random, so that two probes at a time do not meet; no other queue is called so.
std::string random_prefix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string prefix = "probe-";
  for (int i = 0; i < 12; ++i) prefix += kLetters[random() % kLetters.size()];
  return prefix + "-";
}

void begin_audit(probe::Stage& stage, const wire::Endpoint& endpoint) {
  auto listener = probe::Lane::open(endpoint, stage.options.tls, "emq-probe-monitor");
  if (!listener) {
    stage.no_audit = listener.error().detail;
    return;
  }
  stage.listener = *std::move(listener);
  stage.monitor = std::make_unique<probe::Monitor>(*stage.listener);
  stage.no_audit = stage.monitor->start();
  if (!stage.no_audit.empty()) stage.monitor.reset();
}

Scenario run(probe::Stage& stage, const ScenarioEntry& entry) {
  Scenario scenario;
  scenario.name = entry.name;
  scenario.proves = entry.proves;
  const auto begun = Clock::now();
  {
    probe::Trial trial(stage);
    entry.run(trial);
    trial.judge(scenario);
  }
  const auto audit = probe::take_audit(stage);
  stage.audited.scripts += audit.scripts;
  stage.audited.commands += audit.commands;
  for (const auto& violation : audit.violations) stage.audited.violations.push_back(violation);
  stage.audited.programs.insert(audit.programs.begin(), audit.programs.end());
  scenario.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  return scenario;
}

Error stopped_at(const ScenarioEntry& entry) {
  return {ErrorCode::closed,
          "stopped at \"" + entry.name + "\"; what was made for it is deleted",
          {{"scenario", entry.name}}};
}

}  // namespace

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::passed: return "passed";
    case Verdict::failed: return "failed";
    case Verdict::not_run: break;
  }
  return "not run";
}

std::size_t ConformanceReport::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(scenarios.begin(), scenarios.end(),
                    [verdict](const auto& scenario) { return scenario.verdict == verdict; }));
}

std::vector<std::string> conformance_scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : all_scenarios()) names.push_back(entry.name);
  return names;
}

Result<ConformanceReport> run_conformance(std::string_view url, const ConformanceOptions& options) {
  auto chosen = all_scenarios();
  std::erase_if(chosen, [&options](const auto& entry) {
    return entry.name.find(options.only) == std::string::npos;
  });
  if (chosen.empty())
    return Error{ErrorCode::invalid_argument,
                 "no scenario is called like \"" + options.only + "\"",
                 {{"option", "only"}, {"value", options.only}}};
  // Looking for v1 keys is the one thing that reads keys of others.
  auto client = connect(
      url, {.allow_eviction = true, .v1_prefixes = {}, .tls = options.tls, .name = "emq-probe"});
  if (!client) return client.error();
  const auto endpoint = client->core()->endpoint();
  auto lane = probe::Lane::open(endpoint, options.tls, "emq-probe");
  if (!lane) return lane.error();
  probe::Stage stage{.client = *client,
                     .lane = *std::move(lane),
                     .listener = nullptr,
                     .monitor = nullptr,
                     .no_audit = "not asked for (--audit)",
                     .audited = {},
                     .url = std::string(url),
                     .prefix = random_prefix(),
                     .options = options,
                     .observed = {}};
  if (options.audit) begin_audit(stage, endpoint);
  ConformanceReport report;
  report.url = client->url();
  report.server = client->server_version();
  const auto lua = (*stage.lane)({"EVAL", "return _VERSION", "0"});
  report.lua = lua.is_error() ? "Lua unknown" : probe::show(lua);
  const auto needs = server_needs();
  if (!needs.empty()) report.floor = needs.front().since;
  const auto begun = Clock::now();
  const auto stopped = [&options] { return options.stopped && options.stopped(); };
  for (const auto& entry : chosen) {
    if (stopped()) return stopped_at(entry);
    report.scenarios.push_back(run(stage, entry));
    if (const auto lost = stage.lane->lost(); !lost.empty())
      return Error{ErrorCode::connection_lost,
                   "the server went away in \"" + entry.name + "\": " + lost,
                   {{"scenario", entry.name}}};
    // It may have returned early, and then says nothing.
    if (stopped()) return stopped_at(entry);
    if (options.on_scenario) options.on_scenario(report.scenarios.back());
  }
  report.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  return report;
}

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
#include "fleet/fleet.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <utility>

#include "echomq/bulk.h"
#include "echomq/client.h"
#include "echomq/queue.h"
#include "echomq/version.h"
#include "fleet/scenarios.h"

namespace fleet {
namespace {

using Clock = std::chrono::steady_clock;
using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

// Of the servers that people ask for, and of the runtimes beside those of this tree.
constexpr std::array kServers{"Redis", "Valkey", "Dragonfly"};
constexpr const char* kOtherRuntimes = "other runtimes";

class Run {
 public:
  Run(const Settings& settings, echomq::Client client, const std::function<bool()>& stopped)
      : settings_(settings), client_(std::move(client)), stopped_(stopped) {}

  Result<Report> all(const std::function<void(const Line&)>& told) {
    const auto id = client_.mint_id();
    if (!id) return id.error();
    try {
      for (const auto& runtime : settings_.runtimes) greet(runtime);
    } catch (const Mismatch& why) {
      return Error{ErrorCode::config, why.what(), {}};
    }
    name_server();
    int number = 0;
    for (const auto& scenario : scenarios()) {
      if (scenario.name.find(settings_.only) == std::string::npos) continue;
      for (std::size_t adds = 0; adds < members_.size(); ++adds)
        for (std::size_t works = 0; works < members_.size(); ++works) {
          if (adds == works) continue;
          report_.lines.push_back(
              line(scenario, adds, works, "probe-fleet-" + *id + "-" + std::to_string(++number)));
          told(report_.lines.back());
          if (stopped_()) return Error{ErrorCode::closed, "interrupted", {}};
        }
    }
    return std::move(report_);
  }

 private:
  void greet(const Runtime& runtime) {
    auto& member = members_.emplace_back(runtime, settings_.url, stopped_);
    auto about = member.about();
    about["name"] = runtime.name;
    if (about.at("wire") != echomq::wire_version() || about.at("bundle") != echomq::bundle_hash())
      throw Mismatch(runtime.name + " speaks " + about.at("wire").dump() + " with the scripts " +
                     about.at("bundle").dump() + ", and this program " +
                     std::string(echomq::wire_version()) + " with " +
                     std::string(echomq::bundle_hash()) + "; build both of one tree");
    report_.runtimes.push_back(std::move(about));
  }

  // One of the members can tell which server that is.
  void name_server() {
    std::string family;
    for (const auto& about : report_.runtimes)
      if (about.contains("server")) family = about.at("server").at("name");
    report_.server = (family.empty() ? "server" : family) + " " + client_.server_version();
    for (const auto* server : kServers)
      if (server != family) report_.not_run.emplace_back(server);
    report_.not_run.emplace_back(kOtherRuntimes);
  }

  Line line(const Scenario& scenario, std::size_t adds, std::size_t works, std::string queue) {
    Line line;
    line.scenario = scenario.name;
    line.adds = members_[adds].name();
    line.works = members_[works].name();
    Pair pair{members_[adds], members_[works], std::move(queue), client_,
              [this, works] { return Member(settings_.runtimes[works], settings_.url, stopped_); }};
    if (!scenario.applies(pair)) {
      line.verdict = Line::Verdict::not_run;
      line.detail = "not this way round";
      return line;
    }
    const auto begin = Clock::now();
    try {
      line.detail = scenario.run(pair);
      pair.works.stop();
      pair.adds.stop();
    } catch (const std::exception& why) {
      line.verdict = Line::Verdict::failed;
      line.detail = why.what();
      quietly([&] { pair.works.stop(); });
      quietly([&] { pair.adds.stop(); });
    }
    clear(pair.queue);
    line.ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
    return line;
  }

  // What failed already has its line.
  static void quietly(const std::function<void()>& act) {
    try {
      act();
    } catch (const Mismatch&) {
    }
  }

  void clear(const std::string& queue) {
    for (const auto* const end : {"", "-parents"}) {
      echomq::Queue<> used{client_, queue + end};
      (void)used.obliterate({.force = true, .all = true});
    }
  }

  const Settings& settings_;
  echomq::Client client_;
  const std::function<bool()>& stopped_;
  std::deque<Member> members_;
  Report report_;
};

}  // namespace

std::string_view name(Line::Verdict verdict) {
  switch (verdict) {
    case Line::Verdict::passed: return "passed";
    case Line::Verdict::failed: return "failed";
    case Line::Verdict::not_run: break;
  }
  return "not run";
}

std::size_t Report::count(Line::Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [verdict](const Line& line) { return line.verdict == verdict; }));
}

Result<Report> run(const Settings& settings, const std::function<bool()>& stopped,
                   const std::function<void(const Line&)>& told) {
  if (std::none_of(scenarios().begin(), scenarios().end(), [&settings](const Scenario& scenario) {
        return scenario.name.find(settings.only) != std::string::npos;
      }))
    return Error{ErrorCode::invalid_argument,
                 "no scenario is called like \"" + settings.only + "\"",
                 {{"option", "only"}, {"value", settings.only}}};
  auto client = echomq::connect(settings.url, {.name = "emq-probe-fleet"});
  if (!client) return client.error();
  return Run(settings, *std::move(client), stopped).all(told);
}

}  // namespace fleet

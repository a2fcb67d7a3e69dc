// SPDX-License-Identifier: MIT
// emq probe fleet: do the runtimes of this tree work each other's jobs? app/fleet does it.
#include "probe_fleet.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "argument.h"
#include "bench/process.h"
#include "echomq/embedded.h"
#include "echomq/signals.h"
#include "fleet/agent.h"
#include "fleet/fleet.h"

namespace emq {
namespace {

namespace fs = std::filesystem;
using echomq::Result;
using fleet::Line;

struct FleetOptions {
  std::string node = "clients/node";
  std::string only;
  bool member = false;
};

Result<std::vector<fleet::Runtime>> runtimes_of(const FleetOptions& typed) {
  const auto agent = typed.node + "/fleet/agent.mjs";
  if (!fs::exists(agent) || !fs::exists(typed.node + "/dist/index.js"))
    return bad_value("--node", typed.node,
                     "the folder clients/node, built: npm ci --ignore-scripts && npm run build");
  return std::vector<fleet::Runtime>{{"c++", {bench::own_program(), "probe", "fleet", "--member"}},
                                     {"node", {"node", agent}}};
}

Style fleet_style(Line::Verdict verdict) {
  switch (verdict) {
    case Line::Verdict::passed: return Style::green;
    case Line::Verdict::failed: return Style::red;
    case Line::Verdict::not_run: break;
  }
  return Style::yellow;
}

void print_fleet_line(const Line& line) {
  print("{}  {:<4} -> {:<4}  {}{}{}\n",
        paint(fleet_style(line.verdict), fmt::format("{:<7}", name(line.verdict)), stdout),
        line.adds, line.works, line.scenario, line.detail.empty() ? "" : ": ",
        printable(line.detail));
  std::fflush(stdout);
}

void print_fleet_report(const fleet::Report& report) {
  print("\non {}\n", report.server);
  for (const auto& runtime : report.runtimes)
    print("  {:<4}  {}\n", runtime.at("name").get<std::string>(),
          printable(runtime.at("version").get<std::string>()));
  emq::print("not run: {}\n", fmt::join(report.not_run, ", "));
  print("{} passed, {} failed, {} not run\n", report.count(Line::Verdict::passed),
        report.count(Line::Verdict::failed), report.count(Line::Verdict::not_run));
}

Json fleet_json(const fleet::Report& report) {
  Json runtimes = Json::array();
  for (const auto& runtime : report.runtimes)
    runtimes.push_back({{"name", runtime.at("name")},
                        {"version", runtime.at("version")},
                        {"wire", runtime.at("wire")},
                        {"bundle", runtime.at("bundle")}});
  Json lines = Json::array();
  for (const auto& line : report.lines)
    lines.push_back({{"scenario", line.scenario},
                     {"adds", line.adds},
                     {"works", line.works},
                     {"verdict", name(line.verdict)},
                     {"detail", to_utf8(line.detail)},
                     {"took_ms", line.ms}});
  return {{"server", report.server},
          {"runtimes", std::move(runtimes)},
          {"not_run", report.not_run},
          {"passed", report.count(Line::Verdict::passed)},
          {"failed", report.count(Line::Verdict::failed)},
          {"scenarios", std::move(lines)}};
}

Exit fleet_verb(const FleetOptions& typed, const Session& session) {
  ::signal(SIGPIPE, SIG_IGN);
  if (typed.member) return bench::serve(*fleet::agent()) == 0 ? Exit::ok : Exit::failed;
  const auto runtimes = runtimes_of(typed);
  if (!runtimes) return session.fail(runtimes.error());
  fleet::Settings settings{session.url, *runtimes, typed.only};
  // Members are told an address, which a private server has once it runs.
  std::optional<echomq::Embedded> own;
  if (settings.url.starts_with("embedded:")) {
    auto started = echomq::Embedded::start({.temporary = true});
    if (!started) return session.fail(started.error());
    own.emplace(*std::move(started));
    settings.url = own->url();
  }
  const echomq::Signals stop{SIGTERM, SIGINT};
  const auto report = fleet::run(
      settings, [&stop] { return stop.count() > 0; },
      [&session](const Line& line) {
        if (!session.json) print_fleet_line(line);
      });
  if (!report) return session.fail(report.error());
  if (session.json)
    print_json(fleet_json(*report));
  else
    print_fleet_report(*report);
  return report->count(Line::Verdict::failed) == 0 ? Exit::ok : Exit::failed;
}

}  // namespace

void declare_probe_fleet(CLI::App& probe, Session& session) {
  auto* verb = session.declare(
      probe, "fleet",
      "Let each runtime of this tree work the jobs of every other one, in queues of their own "
      "(probe-fleet-...), which are deleted: one line for each scenario and pair, and what was not "
      "run",
      "  emq probe fleet\n"
      "  emq probe fleet --only 'killed' --url redis://db.example --json\n"
      "It runs in the source tree, with clients/node built; without --url and EMQ_URL on a private "
      "server that is gone afterwards. Takes about half a minute. Exit code 1: a scenario "
      "failed.\n");
  auto typed = std::make_shared<FleetOptions>();
  verb->add_option("--node", typed->node, "Folder of the node client")
      ->type_name("DIR")
      ->capture_default_str();
  verb->add_option("--only", typed->only, "Scenarios whose name holds this")->type_name("TEXT");
  // How the probe starts the member of this runtime.
  verb->add_flag("--member", typed->member)->group("");
  // The members are told nothing else of it.
  session.declare_url(*verb);
  session.declare_json(
      *verb, "Print {\"server\",\"runtimes\",\"not_run\",\"passed\",\"failed\",\"scenarios\"}");
  verb->callback([typed, &session] {
    session.run = [typed, &session] { return fleet_verb(*typed, session); };
  });
}

}  // namespace emq

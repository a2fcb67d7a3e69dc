// SPDX-License-Identifier: MIT
// emq probe: does a server do what the wire promises, and do the runtimes work together? The suite
// is the library's (echomq/probe.h), the fleet stands in app/fleet.
#include "echomq/probe.h"

#include <array>
#include <csignal>
#include <memory>
#include <string>

#include "echomq/signals.h"
#include "probe_fleet.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Verdict;

Style style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return Style::green;
    case Verdict::failed: return Style::red;
    case Verdict::not_run: break;
  }
  return Style::yellow;
}

void print_scenario(const echomq::Scenario& scenario) {
  const auto verdict = fmt::format("{:<7}", name(scenario.verdict));
  print("{}  {:<6}  {}{}{}\n", paint(style_of(scenario.verdict), verdict, stdout), scenario.proves,
        scenario.name, scenario.detail.empty() ? "" : ": ", printable(scenario.detail));
  std::fflush(stdout);
}

void print_total(const echomq::ConformanceReport& report) {
  print("{} passed, {} failed, {} not run, in {:.1f} s; {} {} ({}), floor {}\n",
        report.count(Verdict::passed), report.count(Verdict::failed),
        report.count(Verdict::not_run), static_cast<double>(report.took.count()) / 1'000,
        report.url, report.server, report.lua, report.floor);
}

Json conformance_json(const echomq::ConformanceReport& report) {
  Json scenarios = Json::array();
  for (const auto& scenario : report.scenarios)
    scenarios.push_back({{"name", scenario.name},
                         {"proves", scenario.proves},
                         {"verdict", name(scenario.verdict)},
                         {"detail", to_utf8(scenario.detail)},
                         {"took_ms", scenario.took.count()}});
  Json needs = Json::array();
  for (const auto& need : echomq::server_needs())
    needs.push_back({{"what", need.what}, {"since", need.since}, {"by", need.by}});
  return {{"url", report.url},
          {"server", report.server},
          {"lua", report.lua},
          {"floor", report.floor},
          {"passed", report.count(Verdict::passed)},
          {"failed", report.count(Verdict::failed)},
          {"not_run", report.count(Verdict::not_run)},
          {"took_ms", report.took.count()},
          {"scenarios", std::move(scenarios)},
          {"needs", std::move(needs)}};
}

Exit conformance(echomq::ConformanceOptions options, const Session& session) {
  options.tls = session.tls;
  if (!session.json) options.on_scenario = print_scenario;
  // Killed in the middle it would leave its queues, and a server that takes no adds.
  const echomq::Signals stop{SIGTERM, SIGINT, SIGHUP};
  options.stopped = [&stop] { return stop.count() > 0; };
  const auto report = echomq::run_conformance(session.url, options);
  if (!report) return session.fail(report.error());
  if (session.json)
    print_json(conformance_json(*report));
  else
    print_total(*report);
  return report->passed() ? Exit::ok : Exit::failed;
}

Exit list_scenarios(const Session& session) {
  Json names = Json::array();
  for (const auto& scenario : echomq::conformance_scenarios()) {
    if (session.json)
      names.push_back(scenario);
    else
      print("{}\n", scenario);
  }
  if (session.json) print_json({{"scenarios", std::move(names)}});
  return Exit::ok;
}

Exit dispatch(const Session& session) {
  const auto shown = echomq::show_dispatch(session.url, session.tls);
  if (!shown) return session.fail(shown.error());
  constexpr std::array kWhat{"asked for by its SHA1, which the server does not know",
                             "sent by its source, which also makes it known",
                             "asked for again: one command from now on"};
  Json exchanges = Json::array();
  for (std::size_t i = 0; i < shown->size(); ++i) {
    const auto& exchange = (*shown)[i];
    if (session.json) {
      exchanges.push_back({{"sent", exchange.sent}, {"answered", to_utf8(exchange.answered)}});
      continue;
    }
    if (i < kWhat.size()) print("{}. {}\n", i + 1, kWhat[i]);
    print("   > {}\n   < {}\n", printable(exchange.sent), printable(exchange.answered));
  }
  if (session.json) print_json({{"exchanges", std::move(exchanges)}});
  return Exit::ok;
}

void declare_conformance(CLI::App& probe, Session& session) {
  auto* verb = session.declare(
      probe, "conformance",
      "Run the protocol's own suite against a server, in queues of its own (probe-...), which are "
      "deleted: one line for each scenario, and a total",
      "  emq probe conformance --url redis://db.example --audit\n"
      "  emq probe conformance --only 'script job/' --json\n"
      "Each line says what it proves: an invariant or rule of docs/invariants.md, or a section of "
      "docs/protocol.md. Exit code 1: a scenario failed. What the server or an ACL does not allow "
      "is not run, and no failure. Ctrl-C ends the scenario that runs, which deletes its "
      "queues.\n");
  auto options = std::make_shared<echomq::ConformanceOptions>();
  auto listed = std::make_shared<bool>(false);
  verb->add_flag("--audit", options->audit,
                 "Compare every key that a script touches with those that its call declares, by "
                 "MONITOR: slows the server meanwhile");
  verb->add_flag("--alone", options->alone,
                 "Nobody else uses the server: also fill it for some moments (maxmemory), flush "
                 "its scripts and compare all its keys");
  verb->add_option("--only", options->only, "Scenarios whose name holds this")->type_name("TEXT");
  verb->add_flag("--list", *listed, "Print the names of the scenarios and run none");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       "Print {\"server\",\"floor\",\"passed\",\"failed\",\"not_run\","
                       "\"scenarios\":[..],\"needs\":[..]}");
  verb->callback([options, listed, &session] {
    session.run = [options, listed, &session] {
      return *listed ? list_scenarios(session) : conformance(*options, session);
    };
  });
}

void declare_dispatch(CLI::App& probe, Session& session) {
  auto* verb = session.declare(
      probe, "dispatch",
      "Show how a script is called: EVALSHA, NOSCRIPT, EVAL, and EVALSHA alone from then on",
      "  emq probe dispatch --url redis://db.example\n"
      "It uses a script that no server has seen, on a queue of its own, and flushes nothing.\n");
  session.declare_server(*verb);
  session.declare_json(*verb, "Print {\"exchanges\":[{\"sent\",\"answered\"}]}");
  verb->callback([&session] { session.run = [&session] { return dispatch(session); }; });
}

}  // namespace

void declare_probe(CLI::App& app, Session& session) {
  auto* probe =
      session.declare(app, "probe", "Prove a server and its runtimes: conformance, dispatch, fleet",
                      "  emq probe conformance --audit\n"
                      "  emq probe dispatch\n"
                      "  emq probe fleet\n");
  probe->require_subcommand(1);
  declare_conformance(*probe, session);
  declare_dispatch(*probe, session);
  declare_probe_fleet(*probe, session);
}

}  // namespace emq

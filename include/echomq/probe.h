// SPDX-License-Identifier: MIT
// The probes: does this server, in this deployment, do what the wire promises?
//
//   auto report = echomq::run_conformance("redis://db.example", {.audit = true}).value();
//   for (const auto& scenario : report.scenarios) puts(scenario.name.c_str());
//
// Conformance runs the protocol's own suite: every script with all its answers, every refusal, and
// what invariants can be seen from outside. It works in queues of its own, with random names that
// begin with "probe-", and deletes them; no other queue is read or written. Its jobs live in a time
// of their own, so nothing waits. On a local server it takes a few seconds.
//
// Thread-safety: the functions may be called from any thread; they block.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/connection.h"
#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// How a scenario ended. not_run: this server, or what the user may do on it, does not allow it;
// that is no failure, and the detail says what was missing.
enum class Verdict { passed, failed, not_run };

// "passed", "failed", "not run".
ECHOMQ_API std::string_view name(Verdict verdict) noexcept;

struct Scenario {
  std::string name;    // "script job/finish", "order: equal priorities"
  std::string proves;  // of docs/invariants.md or a section of docs/protocol.md: "INV2", "5.9"
  Verdict verdict = Verdict::passed;
  std::string detail{};  // passed: what was seen, if there is more to say; else the first reason
  std::chrono::milliseconds took{0};
};

struct ConformanceOptions {
  // Also listen to MONITOR and compare every key that a script touches with what its call declares.
  // It slows the server for as long as the probe runs, and an ACL may deny it.
  bool audit = false;
  // Nobody else uses the server: its maxmemory is set for some moments, so that it refuses what may
  // grow, its scripts are flushed, and all its keys are looked at, so that one that is made beside
  // the queue is seen.
  bool alone = false;
  // Only scenarios whose name holds this text; empty: all.
  std::string only{};
  TlsOptions tls{};
  // Told of each scenario when it has ended, on the calling thread.
  std::function<void(const Scenario&)> on_scenario{};
  // Asked between scenarios, and within those that take long, on the calling thread: true ends the
  // run. What a scenario has changed is put back first: its queues are deleted, maxmemory is what
  // it was.
  std::function<bool()> stopped{};
};

struct ECHOMQ_API ConformanceReport {
  std::string url;     // without a password
  std::string server;  // "7.0.15"
  std::string lua;     // "Lua 5.1"; "Lua unknown": the user may not ask
  std::string floor;   // the oldest version that has every command of the scripts: "6.2.0"
  std::vector<Scenario> scenarios;
  std::chrono::milliseconds took{0};

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  // No scenario failed. Which were not run is for the reader to weigh.
  [[nodiscard]] bool passed() const { return count(Verdict::failed) == 0; }
};

// `url` as of connect(). Errors: those of connect(); invalid_argument when `only` picks nothing;
// connection_lost when the server went away, after which no scenario says anything; closed when
// `stopped` said so.
ECHOMQ_API Result<ConformanceReport> run_conformance(std::string_view url,
                                                     const ConformanceOptions& options = {});

// The names of all scenarios, in the order in which they run.
ECHOMQ_API std::vector<std::string> conformance_scenarios();

// What a server must know to run the scripts and the client, computed from their text: a command or
// an option of one, and the version of Redis that brought it.
struct ServerNeed {
  std::string what;   // "ZMSCORE", "LPOS COUNT"
  std::string since;  // "6.2.0"
  std::string by;     // who says it: "job/remove", or "the client"
};

// The newest come first, so the first one is the floor.
ECHOMQ_API std::vector<ServerNeed> server_needs();

// One command of a dispatch and its answer, each in one line.
struct Exchange {
  std::string sent;      // "EVALSHA 63f2... 11 emq:{probe-...}:meta ... 1"
  std::string answered;  // "NOSCRIPT No matching script."
};

// Shows the two-command rule (docs/protocol.md, 4.8) on this server: a script that it does not know
// is asked for by its SHA1, refused, sent by its source, and found by its SHA1 from then on. The
// script is one of the set with a comment of its own, so that no other client's is flushed; it
// opens a queue of the probe's own, which is deleted. Errors: those of connect(); protocol when the
// server's answers are others.
ECHOMQ_API Result<std::vector<Exchange>> show_dispatch(std::string_view url,
                                                       const TlsOptions& tls = {});

}  // namespace echomq::inline v2

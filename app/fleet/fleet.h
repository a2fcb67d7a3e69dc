// SPDX-License-Identifier: MIT
// emq probe fleet: every runtime's jobs are worked by every other one, on a real server. A runtime
// is said to speak the wire only where this ran it (INV6), so the report names what was run and
// lists what was not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "echomq/result.h"
#include "fleet/member.h"

namespace fleet {

struct Settings {
  std::string url;
  std::vector<Runtime> runtimes;
  std::string only;  // scenarios whose name holds this; empty: all
};

// What two runtimes did.
struct Line {
  enum class Verdict { passed, failed, not_run };

  std::string scenario;
  std::string adds;
  std::string works;
  Verdict verdict = Verdict::passed;
  std::string detail;
  std::int64_t ms = 0;
};
std::string_view name(Line::Verdict verdict);

struct Report {
  std::string server;                // "Redis 7.0.15"
  std::vector<Json> runtimes;        // what each said of itself
  std::vector<std::string> not_run;  // servers and runtimes of which this run says nothing
  std::vector<Line> lines;

  [[nodiscard]] std::size_t count(Line::Verdict verdict) const;
};

// `told` is called after each line. Errors: those of the connection; invalid_argument (`only` picks
// nothing); config (a runtime cannot be started, or it is of another wire or script set than this
// program); closed (`stopped`).
echomq::Result<Report> run(const Settings& settings, const std::function<bool()>& stopped,
                           const std::function<void(const Line&)>& told);

}  // namespace fleet

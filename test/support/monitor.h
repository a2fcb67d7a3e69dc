// SPDX-License-Identifier: MIT
// The auditor of declared keys: it listens to MONITOR, which shows every command that the server
// runs, those inside scripts included, and finds keys that a script touched without declaring them.
// Which words of a command are keys is asked of the server itself (COMMAND GETKEYS).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/server.h"

namespace echomq::test {

// A command as MONITOR shows it.
struct MonitorLine {
  bool in_script = false;
  std::vector<std::string> words;
};

// "1700000000.123456 [0 lua] \"GET\" \"a\"". Throws std::runtime_error for anything else.
MonitorLine parse_monitor_line(std::string_view line);

// From its making on, it sees what the server runs. Wants a server of the test's own.
class Monitor {
 public:
  explicit Monitor(const TestServer& server);

  // All that was run since the last take, up to now.
  std::vector<MonitorLine> take(RawClient& redis);

 private:
  RawClient listener_;
  int marks_ = 0;
};

// How many of them clients sent, those inside scripts left out.
std::int64_t sent_by_clients(const std::vector<MonitorLine>& lines);

struct Audit {
  std::size_t scripts = 0;              // calls of scripts
  std::size_t commands = 0;             // commands inside them
  std::set<std::string> programs;       // the SHA1s and sources that were called
  std::vector<std::string> violations;  // one line each
};

// Every key of every command inside a script must be among the KEYS of the call, and every key of a
// script or of a plain command one of a queue or of the deployment.
Audit audit(RawClient& redis, const std::vector<MonitorLine>& lines);

}  // namespace echomq::test

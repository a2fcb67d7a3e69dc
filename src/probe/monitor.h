// SPDX-License-Identifier: MIT
// The auditor of declared keys: it listens to MONITOR, which shows every command that the server
// runs, those inside scripts included, and finds keys that a script touched without declaring them.
// Which words of a command are keys is asked of the server itself (COMMAND INFO, COMMAND GETKEYS).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probe/link.h"

namespace echomq::inline v2::probe {

// A command as MONITOR shows it.
struct MonitorLine {
  bool in_script = false;
  std::vector<std::string> words;
};

// "1700000000.123456 [0 lua] \"GET\" \"a\"". Of anything else it makes a line without words.
MonitorLine parse_monitor_line(std::string_view line);

// From start() on, it sees what the server runs, whoever sent it.
class Monitor {
 public:
  // `listener` is a connection of its own.
  explicit Monitor(Link& listener) : listener_(listener) {}

  // Nothing, or why the server refuses it.
  std::string start();
  // All that was run since the last take, up to now: up to a command of `link`.
  std::vector<MonitorLine> take(Link& link);

 private:
  Link& listener_;
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
// script or of a plain command one of a queue or of the deployment. Where others use the server
// too, `only` is a part of the names of the queues to look at: scripts that declare no such key,
// and plain commands, are left out.
Audit audit(Link& link, const std::vector<MonitorLine>& lines, std::string_view only = {});

}  // namespace echomq::inline v2::probe

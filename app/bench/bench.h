// SPDX-License-Identifier: MIT
// The bench: measures every row for every subject, again and again, on one server. What is compared
// is measured in turn (ours, floor, peer, and the next time backwards), each in a process of its
// own on an empty server, so that what the machine does beside hits all alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/results.h"
#include "bench/server.h"
#include "echomq/result.h"

namespace bench {

struct Settings {
  std::string program;        // `emq` itself: the subjects are started from it
  std::string peer_script{};  // peer.mjs; empty: without the peer
  unsigned repeats = 5;
  bool quick = false;  // few jobs: shows that all works, not how fast
  std::vector<Persistence> persistences{Persistence::off, Persistence::everysec};
  std::vector<std::string> only{};  // rows of this beginning; empty: all

  std::function<bool()> stopped;                     // asked now and then
  std::function<void(const std::string&)> progress;  // what is being done
};

// The names of all rows.
std::vector<std::string_view> rows();

// Adds to `results` as it goes, so that what was measured before an error is not lost.
// Errors: those of the server and of the subjects; closed (`stopped`).
echomq::Result<void> run(Server& server, const Settings& settings, Results& results);

}  // namespace bench

// SPDX-License-Identifier: MIT
// Who works on a queue: the processes that hold jobs, as their leases tell.
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echomq::inline v2 {

// A job that runs. Times are milliseconds since 1970 by the server's clock.
struct HeldJob {
  std::string id;
  std::int64_t lease_until_ms = 0;  // extended while its worker lives; past: to be recovered
};

// One process with all of its workers: a lease names the process's node id.
struct WorkerInfo {
  unsigned node = 0;               // 0..1023
  std::string process;             // "host:pid:random"; empty: the node id was given back
  std::int64_t node_until_ms = 0;  // how long it holds its node id without a sign of life
  bool alive = false;              // holds it now
  std::vector<HeldJob> jobs;       // of this queue, the lease that ends first at the front
};

}  // namespace echomq::inline v2

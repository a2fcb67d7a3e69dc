// SPDX-License-Identifier: MIT
// The proof at the end of the demo: every job is read back, and the digest stored with it is
// compared with one computed here, from the file, without the queue.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "echomq/queue.h"
#include "echomq/result.h"
#include "echomq/signals.h"

namespace demo {

struct Verdict {
  std::size_t verified = 0;           // completed once, and the stored digest equals the file's
  std::size_t lost = 0;               // neither completed nor failed
  std::size_t failed = 0;             // no attempts left
  std::size_t retried = 0;            // attempts after the first
  std::size_t recovered = 0;          // runs that ended with their process, and were run again
  std::vector<std::string> problems;  // the first few, one line each
};

// `ids` and `paths` belong together. Uses all cores; `progress` is called now and then with how
// many are done, on the calling thread. Errors: closed when a signal came, and those of the
// connection.
echomq::Result<Verdict> verify(echomq::Queue<>& queue, const std::vector<std::string>& ids,
                               const std::vector<std::string>& paths, const echomq::Signals& stop,
                               const std::function<void(std::size_t)>& progress);

}  // namespace demo

// SPDX-License-Identifier: MIT
// What `emq work` prints: a line for each command that ended, and a summary.
//
// Thread-safety: any thread; handlers write at the same time, and lines stay whole.
#pragma once

#include <chrono>
#include <mutex>

#include "child.h"
#include "echomq/worker.h"

namespace emq {

class Journal {
 public:
  // With `json` a document for each command and one for the summary, to stdout. Else text: `lines`
  // says whether there is one for each command; the summary goes to stderr.
  Journal(bool json, bool lines) : json_(json), lines_(lines) {}

  void note(const echomq::RawJob& job, const echomq::Outcome& outcome, const ChildEnd& end,
            std::chrono::milliseconds took);
  void summary(const echomq::WorkerStats& did);

 private:
  std::mutex mutex_;
  bool json_;
  bool lines_;
};

}  // namespace emq

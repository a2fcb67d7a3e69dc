// SPDX-License-Identifier: MIT
// Worker processes of one queue, and the proof that nothing was lost: the journal in which every
// run is written down by the process that began it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/library_test.h"

namespace echomq::test {

class Fleet {
 public:
  Fleet(std::string url, std::string queue) : url_(std::move(url)), queue_(std::move(queue)) {}

  // Starts one more; `arguments` are those of support/bin/worker_process.cc.
  ChildProcess& start(const std::vector<std::string>& arguments = {},
                      const Environment& environment = {});
  // id -> the pids that began it, in order.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> runs() const;
  [[nodiscard]] std::size_t run_count() const;
  // Has the process begun this job?
  [[nodiscard]] bool began(const ChildProcess& worker, const std::string& id) const;
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  // What all of them have written, for messages.
  [[nodiscard]] std::string output() const;

 private:
  std::string url_;
  std::string queue_;
  Folder folder_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
};

// Fails unless each of these jobs is completed, in exactly that state, and each run beyond the
// first has a recorded crash; with no more crashes of a job than processes died.
void expect_all_done(RawClient& redis, Queue<>& queue, const std::vector<std::string>& ids,
                     const std::map<std::string, std::vector<std::string>>& runs, unsigned deaths);

}  // namespace echomq::test

// SPDX-License-Identifier: MIT
// A member of the fleet, as the probe sees it: a runtime's program (agent.h), started, greeted and
// told what to do. What it answers wrongly, or not at all, is thrown as Mismatch: a scenario ends
// there.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/process.h"

namespace fleet {

using bench::Json;

class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A runtime, and how its member is started.
struct Runtime {
  std::string name;                // "c++", "node"
  std::vector<std::string> words;  // its program
};

class Member {
 public:
  // Started, and connected to `url`. Throws Mismatch.
  Member(const Runtime& runtime, const std::string& url, const std::function<bool()>& stopped);

  [[nodiscard]] const std::string& name() const { return name_; }
  // What it said of itself.
  [[nodiscard]] const Json& about() const { return about_; }
  [[nodiscard]] bool can(const std::string& what) const;

  Json ask(const Json& command);
  // SIGKILL, now.
  void kill() { process_.kill(); }

  // --- in short
  std::vector<std::string> add(const std::string& queue, const Json& jobs);  // the ids
  Json add_one(const std::string& queue, const std::string& data,
               const Json& options = Json::object());  // {"id"..} or {"code"}
  void work(const std::string& queue, Json how = Json::object());
  void stop() { ask({{"do", "stop"}}); }
  Json job(const std::string& queue, const std::string& id);  // null: there is none
  // Waits until the job is in that state, and answers it.
  Json job_in(const std::string& queue, const std::string& id, const std::string& state);
  // Waits until its workers have begun so many runs, and answers them.
  std::vector<Json> runs(std::size_t count);

 private:
  std::string name_;
  bench::Process process_;
  Json about_;
};

// Waits until `answer` is true; throws Mismatch, which names `what`, when it is not in time.
void eventually(const std::string& what, const std::function<bool()>& answer,
                std::chrono::milliseconds limit = std::chrono::seconds(15));
void expect(bool is_so, const std::string& otherwise);

}  // namespace fleet

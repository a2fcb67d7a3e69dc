// SPDX-License-Identifier: MIT
// The scripts and the model, side by side: each step is done on both, their answers are compared,
// and then all that stands on the server with all that the model says must stand there.
//
//   SideBySide both(server, 3);
//   EXPECT_EQ(both.run(step), "");
//
// Steps hold all that they do, so that any of them may be left out, which is how shrunk() finds the
// few that matter. The server is emptied first: a server of the test's own. Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/model/queue_model.h"
#include "support/server.h"

namespace echomq::test {

// One call of one client.
struct Step {
  std::string text;  // what a reader of a failure sees
  std::size_t client = 0;
  std::int64_t now = 0;  // its stamp
  std::function<std::string(QueueModel&)> of_model;
  std::function<std::string(ScriptQueue&)> of_scripts;
};

class SideBySide {
 public:
  // Each client has a connection of its own.
  SideBySide(const TestServer& server, std::size_t clients);

  // Does the step; answers what differs afterwards, nothing where all is alike.
  std::string run(const Step& step);
  // The same, and looks at the answers alone.
  std::string answers_differ(const Step& step);
  // What stands on the server and in the model.
  std::string difference();

  QueueModel model;
  Journal journal;
  RawClient& redis() { return *connections_.front(); }

 private:
  std::vector<std::unique_ptr<RawClient>> connections_;
  std::vector<std::unique_ptr<ScriptQueue>> clients_;
};

// The same on an empty server: what the answers differ in, and what is there after the last step.
// Steps behind the first that is answered otherwise are taken off.
std::string difference_after(const TestServer& server, std::size_t clients,
                             std::vector<Step>& steps);

// Those of the steps that are needed for a difference, as far as they are found within the time.
std::vector<Step> shrunk(const TestServer& server, std::size_t clients, std::vector<Step> steps,
                         std::chrono::seconds within = std::chrono::seconds(20));

// A line for each.
std::string texts_of(const std::vector<Step>& steps);

}  // namespace echomq::test

// SPDX-License-Identifier: MIT
// The fixture of the tests of flows: further queues beside the one of the library's tests, each
// with a worker when the test wants one. Their keys are deleted afterwards.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {

class FlowTest : public LibraryTest {
 protected:
  explicit FlowTest(TestServer& on = shared_server()) : LibraryTest(on) {}
  ~FlowTest() override {
    workers_.clear();
    for (const auto& [word, queue_name] : names_) delete_queue(redis, queue_name);
  }

  // The name of a queue of this test; the same for the same word.
  std::string named(const std::string& word) {
    auto& full = names_[word];
    if (full.empty()) full = name + "." + word;
    return full;
  }
  Queue<> queue_of(const std::string& word) { return {client, named(word)}; }
  Counts counts_of(const std::string& word) { return queue_of(word).counts().value_or({}); }
  JobInfo job_of(const std::string& word, const std::string& id) {
    return queue_of(word).job(id).value();
  }

  static WorkerOptions quick(unsigned concurrency = 4) {
    WorkerOptions how;
    how.concurrency = concurrency;
    how.lease = std::chrono::seconds(2);
    how.poll = std::chrono::milliseconds(100);
    return how;
  }

  using Handler = std::function<Outcome(Job<>&)>;
  // A worker of this test's client; every run is noted under the job's id.
  Worker& work(const std::string& word, Handler handler, WorkerOptions how = quick()) {
    return work_as(client, word, std::move(handler), std::move(how));
  }
  Worker& work_as(const Client& as, const std::string& word, Handler handler,
                  WorkerOptions how = quick()) {
    queues_.emplace_back(as, named(word));
    workers_.push_back(std::make_unique<Worker>(queues_.back(), std::move(how),
                                                [this, handler = std::move(handler)](Job<>& job) {
                                                  runs.note(job.id());
                                                  return handler(job);
                                                }));
    return *workers_.back();
  }
  void stop_workers() { workers_.clear(); }

  bool reaches(const std::string& word, const std::string& id, JobState state,
               std::chrono::milliseconds within = std::chrono::seconds(20)) {
    return eventually(
        [&] {
          const auto job = queue_of(word).job(id);
          return job && job->state == state;
        },
        within);
  }
  // How many entries the outbox of a queue has that are messages.
  std::size_t messages(const std::string& word) {
    std::size_t count = 0;
    for (const auto& field : texts(redis({"HKEYS", key(named(word), Structure::outbox)})))
      count += field.find(' ') == std::string::npos ? 0 : 1;
    return count;
  }

  Flows flows{client};
  Runs runs{};

 private:
  std::map<std::string, std::string> names_;
  std::list<Queue<>> queues_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace echomq::test

// SPDX-License-Identifier: MIT
#include "support/fleet.h"

#include <sstream>

namespace echomq::test {

ChildProcess& Fleet::start(const std::vector<std::string>& arguments,
                           const Environment& environment) {
  std::vector<std::string> all{"url=" + url_, "queue=" + queue_, "journal=" + file("journal")};
  all.insert(all.end(), arguments.begin(), arguments.end());
  workers_.push_back(std::make_unique<ChildProcess>("worker_process", all, environment));
  return *workers_.back();
}

std::map<std::string, std::vector<std::string>> Fleet::runs() const {
  std::map<std::string, std::vector<std::string>> found;
  std::istringstream lines(content_of(file("journal")));
  std::string id;
  std::string pid;
  while (lines >> id >> pid) found[id].push_back(pid);
  return found;
}

std::size_t Fleet::run_count() const {
  std::size_t count = 0;
  for (const auto& [id, pids] : runs()) count += pids.size();
  return count;
}

bool Fleet::began(const ChildProcess& worker, const std::string& id) const {
  const auto all = runs();
  const auto found = all.find(id);
  if (found == all.end()) return false;
  for (const auto& pid : found->second)
    if (pid == std::to_string(worker.pid())) return true;
  return false;
}

std::string Fleet::output() const {
  std::string all;
  for (const auto& worker : workers_)
    all += "-- worker " + std::to_string(worker->pid()) + "\n" + worker->output();
  return all;
}

void expect_all_done(RawClient& redis, Queue<>& queue, const std::vector<std::string>& ids,
                     const std::map<std::string, std::vector<std::string>>& runs, unsigned deaths) {
  const auto stand = places(redis, queue.name());
  EXPECT_EQ(stand.size(), ids.size());
  for (const auto& id : ids) {
    const auto at = stand.find(id);
    ASSERT_NE(at, stand.end()) << id << " is lost";
    ASSERT_EQ(at->second, "completed") << id;
    const auto job = queue.job(id).value();
    const auto ran = runs.find(id);
    ASSERT_NE(ran, runs.end()) << id << " completed and never ran";
    // A process may die between its claim and the start of the handler: a crash without a run.
    ASSERT_LE(ran->second.size() - 1, job.crashes) << id << ": a run without a recorded recovery";
    ASSERT_LE(job.crashes, deaths) << id;
    ASSERT_EQ(job.attempts_made, 1U) << id;
    ASSERT_EQ(job.attempts_started, job.crashes + 1) << id;
  }
  const auto counts = queue.counts().value();
  EXPECT_EQ(counts.completed, static_cast<std::int64_t>(ids.size()));
  EXPECT_EQ(counts.waiting + counts.prioritized + counts.active + counts.delayed + counts.failed,
            0);
}

}  // namespace echomq::test

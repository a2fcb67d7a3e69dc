// SPDX-License-Identifier: MIT
#include "fleet/member.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "fleet/base64.h"

namespace fleet {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 20s;  // of one answer

bench::Process start(const Runtime& runtime, const std::function<bool()>& stopped) {
  auto process = bench::Process::start(runtime.words, stopped);
  if (!process) throw Mismatch(process.error().message());
  return *std::move(process);
}

}  // namespace

Member::Member(const Runtime& runtime, const std::string& url, const std::function<bool()>& stopped)
    : name_(runtime.name), process_(start(runtime, stopped)) {
  about_ = ask({{"do", "hello"}, {"url", url}});
}

bool Member::can(const std::string& what) const {
  const auto& all = about_.at("can");
  return std::find(all.begin(), all.end(), what) != all.end();
}

Json Member::ask(const Json& command) {
  auto answer = process_.ask(command, kLimit);
  if (!answer) throw Mismatch(answer.error().detail);
  return *std::move(answer);
}

std::vector<std::string> Member::add(const std::string& queue, const Json& jobs) {
  std::vector<std::string> ids;
  const auto answer = ask({{"do", "add"}, {"queue", queue}, {"jobs", jobs}});
  for (const auto& one : answer.at("added")) {
    expect(one.contains("id"), name_ + " could not add a job: " + one.dump());
    ids.push_back(one.at("id"));
  }
  return ids;
}

Json Member::add_one(const std::string& queue, const std::string& data, const Json& options) {
  const Json jobs = Json::array({{{"data", to_base64(data)}, {"options", options}}});
  return ask({{"do", "add"}, {"queue", queue}, {"jobs", jobs}}).at("added").at(0);
}

void Member::work(const std::string& queue, Json how) {
  how["do"] = "work";
  how["queue"] = queue;
  ask(how);
}

Json Member::job(const std::string& queue, const std::string& id) {
  return ask({{"do", "job"}, {"queue", queue}, {"id", id}}).at("job");
}

Json Member::job_in(const std::string& queue, const std::string& id, const std::string& state) {
  Json found;
  eventually("job " + id + " is " + state, [&] {
    found = job(queue, id);
    return !found.is_null() && found.at("state") == state;
  });
  return found;
}

std::vector<Json> Member::runs(std::size_t count) {
  std::vector<Json> all;
  eventually(name_ + " has begun " + std::to_string(count) + " run(s)", [&] {
    all.clear();
    const auto answer = ask({{"do", "runs"}});
    for (const auto& run : answer.at("runs")) all.push_back(run);
    return all.size() >= count;
  });
  return all;
}

void eventually(const std::string& what, const std::function<bool()>& answer,
                std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!answer()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw Mismatch("it did not come true that " + what);
    std::this_thread::sleep_for(10ms);
  }
}

void expect(bool is_so, const std::string& otherwise) {
  if (!is_so) throw Mismatch(otherwise);
}

}  // namespace fleet

// SPDX-License-Identifier: MIT
#include "fleet/agent.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "echomq/echomq.h"
#include "echomq/version.h"
#include "fleet/base64.h"
#include "fleet/options.h"

namespace fleet {
namespace {

using namespace std::chrono_literals;
using bench::Json;
using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

Json told(const echomq::JobInfo& job) {
  Json result;
  if (job.result) result = to_base64(*job.result);
  return {{"id", job.id},
          {"name", job.name},
          {"data", to_base64(job.data)},
          {"state", echomq::name(job.state)},
          {"options", json_of(job.options)},
          {"attempts_made", job.attempts_made},
          {"attempts_started", job.attempts_started},
          {"crashes", job.crashes},
          {"added_ms", job.added_ms},
          {"due_ms", job.due_ms},
          {"processed_ms", job.processed_ms},
          {"finished_ms", job.finished_ms},
          {"worker", job.worker},
          {"progress", to_base64(job.progress)},
          {"result", result},
          {"failed_reason", job.failed_reason},
          {"parent_queue", job.parent_queue},
          {"parent", job.parent}};
}

// What the handlers have seen, and what was heard.
class Notes {
 public:
  void put(const std::string& list, Json note) {
    const std::lock_guard lock(mutex_);
    lists_[list].push_back(std::move(note));
  }
  void clear(const std::string& list) {
    const std::lock_guard lock(mutex_);
    lists_.erase(list);
  }
  Json get(const std::string& list) {
    const std::lock_guard lock(mutex_);
    const auto found = lists_.find(list);
    return found == lists_.end() ? Json::array() : Json(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Json>> lists_;
};

constexpr const char* kRuns = "runs";

// Until it is asked to stop, as one that never ends.
void hang(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

class Agent : public bench::Subject {
 public:
  Result<Json> run(const Json& command) override {
    const auto verb = command.value("do", "");
    if (verb == "hello") return hello(command);
    if (!client_) return Error{ErrorCode::invalid_argument, "not connected: say hello first", {}};
    if (verb == "add") return add(command);
    if (verb == "work") return work(command);
    if (verb == "runs") return Json{{"runs", notes_.get(kRuns)}};
    if (verb == "stop") return stop();
    if (verb == "job") return job(command);
    if (verb == "counts") return counts(command);
    if (verb == "pause") return done(queue(command).pause());
    if (verb == "resume") return done(queue(command).resume());
    if (verb == "remove") return done(queue(command).remove(command.at("id").get<std::string>()));
    if (verb == "listen") return listen(command);
    if (verb == "heard")
      return Json{{"events", notes_.get("heard " + command.at("queue").get<std::string>())}};
    if (verb == "flow") return flow(command);
    if (verb == "schedule") return schedule(command);
    return Error{ErrorCode::invalid_argument, "this member cannot do \"" + verb + "\"", {}};
  }

 private:
  echomq::Queue<> queue(const Json& command) {
    return {*client_, command.at("queue").get<std::string>()};
  }

  static Result<Json> done(const Result<void>& result) {
    if (!result) return result.error();
    return Json::object();
  }

  Result<Json> hello(const Json& command) {
    auto client = echomq::connect(command.at("url").get<std::string>(), {.name = "emq-fleet"});
    if (!client) return client.error();
    client_ = *std::move(client);
    return Json{{"runtime", "c++"},
                {"version", "libechomq " + std::string(echomq::library_version())},
                {"wire", echomq::wire_version()},
                {"bundle", echomq::bundle_hash()},
                {"can", {"flow", "schedule"}}};
  }

  Result<Json> add(const Json& command) {
    std::vector<echomq::NewJob<std::string>> jobs;
    for (const auto& job : command.at("jobs"))
      jobs.push_back({from_base64(job.at("data").get<std::string>()),
                      options_of(job.value("options", Json::object()))});
    auto results = queue(command).add_bulk(jobs);
    if (!results) return results.error();
    Json added = Json::array();
    for (const auto& one : *results) {
      if (one)
        added.push_back({{"id", one->id}, {"deduplicated", one->deduplicated}});
      else
        added.push_back({{"code", echomq::name(one.error().code)}});
    }
    return Json{{"added", added}};
  }

  Result<Json> work(const Json& command) {
    notes_.clear(kRuns);
    auto of = queue(command);
    echomq::WorkerOptions options;
    options.concurrency = command.value("concurrency", 1U);
    options.lease = std::chrono::milliseconds(command.value("lease_ms", std::int64_t{30'000}));
    options.name = command.value("name", "c++");
    const auto fail_before = command.value("fail_before", 0U);
    const bool hangs = command.value("hang", false);
    auto handler = [this, fail_before, hangs](echomq::Job<>& job) -> Result<std::string> {
      note(job);
      if (hangs) hang(job.stop_token());
      if (job.attempt() < fail_before)
        return Error{ErrorCode::invalid_argument, "attempt " + std::to_string(job.attempt()), {}};
      return job.data();
    };
    workers_.push_back(std::make_unique<echomq::Worker>(of, options, std::move(handler)));
    return Json::object();
  }

  void note(echomq::Job<>& job) {
    Json children = Json::array();
    if (const auto of = job.children())
      for (const auto& child : of->completed)
        children.push_back(to_base64(child.result.value_or("")));
    notes_.put(kRuns, {{"queue", job.queue()},
                       {"id", job.id()},
                       {"name", job.name()},
                       {"data", to_base64(job.data())},
                       {"attempt", job.attempt()},
                       {"crashes", job.crashes()},
                       {"traceparent", job.traceparent()},
                       {"began_ms", client_->server_time_ms()},
                       {"children", children}});
  }

  Result<Json> stop() {
    echomq::WorkerStats all;
    for (auto& worker : workers_) {
      if (auto stopped = worker->stop(5s); !stopped) return stopped.error();
      all.completed += worker->stats().completed;
      all.failed += worker->stats().failed;
      all.retried += worker->stats().retried;
      all.recovered += worker->stats().recovered;
    }
    workers_.clear();
    return Json{{"stats",
                 {{"completed", all.completed},
                  {"failed", all.failed},
                  {"retried", all.retried},
                  {"recovered", all.recovered}}}};
  }

  Result<Json> job(const Json& command) {
    const auto info = queue(command).job(command.at("id").get<std::string>());
    if (!info && info.error().code == ErrorCode::not_found) return Json{{"job", nullptr}};
    if (!info) return info.error();
    return Json{{"job", told(*info)}};
  }

  Result<Json> counts(const Json& command) {
    const auto counts = queue(command).counts();
    if (!counts) return counts.error();
    return Json{{"waiting", counts->waiting},     {"prioritized", counts->prioritized},
                {"active", counts->active},       {"delayed", counts->delayed},
                {"completed", counts->completed}, {"failed", counts->failed},
                {"paused", counts->paused}};
  }

  Result<Json> listen(const Json& command) {
    auto of = queue(command);
    const auto list = "heard " + of.name();
    listeners_[of.name()] = std::make_unique<echomq::QueueEvents>(
        of, echomq::QueueEventsOptions{}, [this, list](const echomq::Event& event) {
          notes_.put(list, event.name + " " + event.job);
        });
    return done(listeners_[of.name()]->ready(5s));
  }

  Result<Json> flow(const Json& command) {
    echomq::FlowJob root{.queue = command.at("parent"), .data = "parent"};
    for (const auto& data : command.at("data"))
      root.children.push_back(
          {.queue = command.at("child"), .data = from_base64(data.get<std::string>())});
    const auto added = echomq::Flows(*client_).add(root);
    if (!added) return added.error();
    return Json{{"id", added->id}};
  }

  Result<Json> schedule(const Json& command) {
    auto of = queue(command);
    const auto interval = std::chrono::milliseconds(command.at("every_ms"));
    const auto made =
        echomq::Schedulers<>(of).upsert("fleet", {.when = echomq::Every{interval},
                                                  .limit = command.at("limit"),
                                                  .missed = echomq::Missed::run_all()});
    if (!made) return made.error();
    return Json::object();
  }

  std::optional<echomq::Client> client_;
  Notes notes_;
  std::map<std::string, std::unique_ptr<echomq::QueueEvents>> listeners_;
  std::vector<std::unique_ptr<echomq::Worker>> workers_;
};

}  // namespace

std::unique_ptr<bench::Subject> agent() { return std::make_unique<Agent>(); }

}  // namespace fleet

// SPDX-License-Identifier: MIT
#include "bench/migration.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/payload.h"
#include "bench/redis.h"
#include "echomq/client.h"
#include "echomq/migration.h"

namespace bench {
namespace {

using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

constexpr std::uint64_t kJobsAtOnce = 256;
constexpr const char* kAddedMs = "1769904000000";

class MigrationSubject final : public Subject {
 public:
  MigrationSubject(Redis redis, echomq::Client client)
      : redis_(std::move(redis)), client_(std::move(client)) {}

  Result<Json> run(const Json& command) override {
    const auto what = command.value("do", "");
    if (what == "v1_queue") return make(command);
    if (what == "migrate") return migrate(command);
    return Error{ErrorCode::unsupported, "a migration does not " + what, {}};
  }

 private:
  Result<Json> make(const Json& command) {
    const auto deadline = deadline_of(command);
    const auto base = "bull:" + command.at("queue").get<std::string>() + ":";
    const auto jobs = command.at("jobs").get<std::uint64_t>();
    const auto data = "\"" + payload(0) + "\"";
    const auto wait = base + "wait";
    for (std::uint64_t made = 0; made < jobs;) {
      if (std::chrono::steady_clock::now() > deadline) return too_slow();
      const auto now = std::min(jobs - made, kJobsAtOnce);
      std::vector<std::string> ids;
      ids.reserve(now);
      for (std::uint64_t i = 0; i < now; ++i) {
        ids.push_back(std::to_string(++made));
        redis_.put({"HSET", base + ids.back(), "name", "job", "data", data, "opts",
                    R"({"attempts":0})", "timestamp", kAddedMs, "delay", "0", "priority", "0"});
      }
      std::vector<std::string_view> words{"LPUSH", wait};
      words.insert(words.end(), ids.begin(), ids.end());
      redis_.put(words);
      if (auto sent = answered(now + 1); !sent) return sent.error();
    }
    redis_.put({"HSET", base + "meta", "version", "bullmq:5.65.1", "opts.maxLenEvents", "10000"});
    redis_.put({"SET", base + "id", std::to_string(jobs)});
    if (auto sent = answered(2); !sent) return sent.error();
    return Json::object();
  }

  Result<void> answered(std::uint64_t commands) {
    if (auto sent = redis_.send(); !sent) return sent;
    for (; commands > 0; --commands) {
      const auto answer = redis_.take();
      if (!answer) return answer.error();
      if (answer->error) return Error{ErrorCode::server_error, answer->text, {}};
    }
    return {};
  }

  Result<Json> migrate(const Json& command) {
    const auto deadline = deadline_of(command);
    const auto queue = command.at("queue").get<std::string>();
    echomq::MigrationOptions options;
    options.queues = {{queue, queue}};
    options.on_progress = [deadline](const echomq::MigrationProgress&) {
      return std::chrono::steady_clock::now() < deadline;
    };
    echomq::Migration migration(client_, options);
    const Stopwatch watch;
    const auto moved = migration.run();
    if (!moved) return moved.error();
    auto answer = watch.answer();
    const auto compared = migration.verify();
    if (!compared) return compared.error();
    if (compared->found > 0)
      return Error{ErrorCode::wrong_state, compared->differences.front().text, {}};
    if (const auto finished = migration.finish(); !finished) return finished.error();
    answer["jobs"] = moved->jobs;
    answer["longest_call_ms"] = moved->longest_call.count();
    return answer;
  }

  Redis redis_;
  echomq::Client client_;
};

}  // namespace

Result<std::unique_ptr<Subject>> migration_subject(const std::string& url) {
  auto redis = Redis::connect(url);
  if (!redis) return redis.error();
  auto client = echomq::connect(url, {.name = "bench"});
  if (!client) return client.error();
  return std::unique_ptr<Subject>(
      std::make_unique<MigrationSubject>(*std::move(redis), *std::move(client)));
}

}  // namespace bench

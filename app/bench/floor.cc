// SPDX-License-Identifier: MIT
#include "bench/floor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "bench/payload.h"
#include "bench/redis.h"

namespace bench {
namespace {

using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

constexpr std::uint64_t kPipelined = 256;  // in one write; and two of them on their way
constexpr std::uint64_t kFirstId = 274'557'032'793'636'864;
constexpr const char* kHead = "1769904000000:3:job";  // the time, and the name with its length

class Floor final : public Subject {
 public:
  explicit Floor(Redis redis) : redis_(std::move(redis)) {}

  Result<Json> run(const Json& command) override {
    if (command.value("do", "") != "bulk_add")
      return Error{ErrorCode::unsupported, "the floor only adds", {}};
    const auto deadline = deadline_of(command);
    const auto prefix = "emq:{" + command.at("queue").get<std::string>() + "}:";
    auto left = command.at("jobs").get<std::uint64_t>();
    std::uint64_t unanswered = 0;
    const Stopwatch watch;
    while (left > 0 || unanswered > 0) {
      if (std::chrono::steady_clock::now() > deadline) return too_slow();
      const auto now = std::min(left, kPipelined);
      for (std::uint64_t i = 0; i < now; ++i) put(prefix);
      if (auto sent = redis_.send(); !sent) return sent.error();
      left -= now;
      unanswered += now;
      while (unanswered > (left > 0 ? kPipelined : 0)) {
        const auto answer = redis_.take();
        if (!answer) return answer.error();
        if (answer->error) return Error{ErrorCode::server_error, answer->text, {}};
        --unanswered;
      }
    }
    return watch.answer();
  }

 private:
  void put(const std::string& prefix) {
    key_ = prefix;
    key_ += std::to_string(id_++);
    redis_.put({"HSET", key_, "head", kHead, "data", data_});
  }

  Redis redis_;
  std::uint64_t id_ = kFirstId;
  std::string key_;
  std::string data_ = payload(0);
};

}  // namespace

Result<std::unique_ptr<Subject>> floor_subject(const std::string& url) {
  auto redis = Redis::connect(url);
  if (!redis) return redis.error();
  return std::unique_ptr<Subject>(std::make_unique<Floor>(*std::move(redis)));
}

}  // namespace bench

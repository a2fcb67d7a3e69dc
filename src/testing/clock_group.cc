// SPDX-License-Identifier: MIT
#include "testing/clock_group.h"

#include <string>
#include <utility>

#include "base/bad_option.h"
#include "echomq/testing.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

Result<void> jump(const std::shared_ptr<ClientCore>& client, milliseconds ahead) {
  const auto jumped = client->wait_for<bool>([&client, ahead](Function<void(Result<bool>)> done) {
    client->jump(ahead);
    done(true);
  });
  if (!jumped) return jumped.error();
  return {};
}

}  // namespace

std::shared_ptr<ClockGroup> ClockGroup::of(const std::shared_ptr<ClientCore>& client) {
  auto fresh = std::make_shared<ClockGroup>();
  fresh->clients_.push_back(client);
  return client->follow(fresh);
}

Result<void> ClockGroup::join(const std::shared_ptr<ClientCore>& client) {
  const std::lock_guard lock(mutex_);
  for (const auto& member : clients_)
    if (member.lock() == client) return {};
  if (client->follow(shared_from_this()).get() != this)
    return Error{ErrorCode::wrong_state, "the client follows another clock already", {}};
  clients_.push_back(client);
  return jumped_ > milliseconds(0) ? jump(client, jumped_) : Result<void>();
}

Result<void> ClockGroup::advance(milliseconds time) {
  const std::lock_guard lock(mutex_);
  if (time < milliseconds(0) || time > testing::kMaxJump - jumped_)
    return bad_option(
        "time", std::to_string(time.count()),
        "0 to " + std::to_string((testing::kMaxJump - jumped_).count()) +
            " milliseconds: a clock is never set back, and fifty years ahead at most");
  std::erase_if(clients_, [](const auto& client) { return client.expired(); });
  for (const auto& member : clients_) {
    const auto client = member.lock();
    if (!client) continue;
    if (auto jumped = jump(client, time); !jumped) return jumped;
  }
  jumped_ += time;
  return {};
}

std::int64_t ClockGroup::now_ms() const {
  const std::lock_guard lock(mutex_);
  for (const auto& member : clients_)
    if (const auto client = member.lock()) return client->now_ms();
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::system_clock::now().time_since_epoch() + jumped_)
      .count();
}

}  // namespace echomq::inline v2

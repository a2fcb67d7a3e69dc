// SPDX-License-Identifier: MIT
#include "worker/marker.h"

#include <string>
#include <utility>

#include "base/weak_call.h"
#include "protocol/refusal.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::chrono::milliseconds kLate{300};     // past its time-out a silent lane may be dead
constexpr std::chrono::milliseconds kSlack{2'000};  // and by then it is

}  // namespace

void Marker::open() {
  lane_ = queue_->client()->make_lane(":block");
  lane_->start();
}

void Marker::close() {
  closed_ = true;
  if (watch_) watch_->cancel();
  if (lane_) lane_->close();
}

void Marker::wait() {
  std::string bytes;
  const auto seconds = std::to_string(static_cast<double>(poll_.count()) / 1'000.0);
  wire::append_command(bytes, {"BZPOPMIN", queue_->keys().marker, seconds});
  lane_->send(std::move(bytes), poll_ + kSlack, weak_call(*this, &Marker::answered));
  watch(poll_ + kLate);
}

void Marker::watch(std::chrono::milliseconds wait) {
  watch_ = queue_->client()->loop().after(wait, weak_call(*this, &Marker::overdue));
}

void Marker::overdue() {
  if (closed_) return;
  watch(kLate);
  events_.late();
}

void Marker::answered(Result<wire::Reply> reply) {
  if (closed_) return;
  watch_->cancel();
  if (reply && reply->is_error()) {
    const auto& marker = queue_->keys().marker;
    auto error = protocol::refusal(reply->text, queue_->name(), marker);
    error.detail = "cannot wait on " + marker + ": " + error.detail;
    return events_.popped(error);
  }
  if (!reply || reply->items.size() != 3) return events_.popped(Mark{});
  if (reply->items[1].text == "0") return events_.popped(Mark{.kind = Mark::Kind::wake});
  const auto& member = reply->items[1].text;
  const auto kind = member == "2"   ? Mark::Kind::gate
                    : member == "3" ? Mark::Kind::tick
                                    : Mark::Kind::timer;
  events_.popped(Mark{.kind = kind, .due_ms = wire::number_of(reply->items[2])});
}

void Marker::put_wake() { put({"ZADD", queue_->keys().marker, "0", "0"}); }

// Never later than what stands there already.
void Marker::put_timer(std::int64_t due_ms) {
  put({"ZADD", queue_->keys().marker, "LT", std::to_string(due_ms), "1"});
}

void Marker::put_gate() {
  put({"HDEL", queue_->keys().limiter, "armed"});
  put_wake();
}

void Marker::put_tick(std::int64_t due_ms) {
  put({"ZADD", queue_->keys().marker, "LT", std::to_string(due_ms), "3"});
}

void Marker::put(std::initializer_list<std::string_view> command) {
  std::string bytes;
  wire::append_command(bytes, command);
  ++puts_;
  queue_->client()->command(std::move(bytes), [self = shared_from_this()](Result<wire::Reply>) {
    --self->puts_;
    self->events_.put_back();
  });
}

}  // namespace echomq::inline v2

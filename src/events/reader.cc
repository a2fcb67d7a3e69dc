// SPDX-License-Identifier: MIT
#include "events/reader.h"

#include <utility>

#include "base/weak_call.h"
#include "events/stream_look.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBatchEntries = 64;  // of one batch
constexpr milliseconds kDeadLane{2'000};   // past its time-out a silent lane is dead
constexpr milliseconds kLookPause{100};    // after a look that the network refused

}  // namespace

void EventReader::open() {
  lane_ = client_->make_lane(":events");
  lane_->start();
  look();
}

void EventReader::close() {
  closed_ = true;
  placed_ = false;
  if (lane_) lane_->close();
}

void EventReader::look() {
  if (closed_) return;
  if (client_->state() == ConnectionState::closed)
    return fail({ErrorCode::closed, "the client was closed", {{"queue", queue_}}});
  lane_->send(look_command(keys_.meta), client_->options().command_timeout,
              weak_call(*this, &EventReader::looked));
}

void EventReader::look_later() {
  placed_ = false;
  client_->loop().after(kLookPause, weak_call(*this, &EventReader::look));
}

void EventReader::looked(Result<wire::Reply> reply) {
  if (closed_) return;
  if (!reply) return look_later();
  const auto look = read_look(*reply, queue_, keys_.meta);
  if (!look && look.error().code == ErrorCode::loading) return look_later();
  if (!look) return fail(look.error());
  last_ = look->last;
  auto events = cursor_.counted(last_);
  placed_ = true;
  hooks_.placed();
  if (closed_) return;
  if (!events.empty()) return tell(std::move(events));
  read(/*wait=*/!cursor_.behind(last_));
}

void EventReader::read(bool wait) {
  if (closed_) return;
  const auto timeout = wait ? poll_ + kDeadLane : client_->options().command_timeout;
  lane_->send(
      read_command(keys_.events, cursor_.read_from(), kBatchEntries, wait ? poll_.count() : 0),
      timeout, [weak = weak_from_this(), wait](Result<wire::Reply> reply) {
        if (const auto self = weak.lock()) self->answered(wait, std::move(reply));
      });
}

void EventReader::answered(bool waited, Result<wire::Reply> reply) {
  if (closed_) return;
  if (!reply) return look_later();
  if (reply->is_error()) {
    const auto why = stream_refusal(*reply, queue_, keys_.events);
    // "UNBLOCKED": somebody ended the wait by hand.
    if (why.code == ErrorCode::loading || reply->text.starts_with("UNBLOCKED")) return look_later();
    return fail(why);
  }
  auto entries = read_stream(*reply);
  if (!entries.empty()) {
    tell(cursor_.read(std::move(entries)));
  } else if (waited) {
    hooks_.idle();
    look();
  } else {
    tell(cursor_.read_nothing(last_));
  }
}

void EventReader::tell(std::vector<Event> events) {
  if (events.empty()) return go_on();
  hooks_.read(std::move(events));
}

void EventReader::fail(const Error& why) {
  close();
  hooks_.failed(why);
}

}  // namespace echomq::inline v2

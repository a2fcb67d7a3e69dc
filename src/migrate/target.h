// SPDX-License-Identifier: MIT
// The target of a migration: a queue of 2.0 that is being filled, and may be taken away again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "fence/versions.h"
#include "migrate/delete_listed.h"
#include "migrate/link.h"
#include "migrate/walk.h"
#include "queue/queue_keys.h"

namespace echomq::inline v2::migrate {

using fence::kMigrating;
inline constexpr std::string_view kAborting = "echomq:2.0.0:aborting";

// What `version` of its meta says; empty: there is none.
Result<std::string> target_version(Link& target, const QueueKeys& keys);
// Whether anything of a queue is there.
Result<bool> target_exists(Link& target, const std::string& queue);
// Nobody else can make a queue of this name from then on.
Result<void> open_target(Link& target, const std::string& queue, std::int64_t now_ms);
// Once v1 cannot change them any more.
Result<void> set_target(Link& target, const std::string& queue, const Fields& settings);
// Marks it as a target again where a v1 client that names it so has overwritten the mark. What else
// such a client has done there, a comparison finds. True: it had to.
Result<bool> reclaim_target(Link& target, const std::string& queue, std::int64_t now_ms);
// How far the copy has come, as the text of a cursor; empty: it has not begun.
Result<std::string> target_cursor(Link& target, const QueueKeys& keys);
// `how`: "finish" or "abort".
Result<void> close_target(Link& target, const std::string& queue, std::string_view how);

// Deletes a target that is marked so, in chunks, its meta last.
Result<void> take_target_away(Link& target, const std::string& queue, const OnChunk& on_chunk);

// Writes what a walk reads.
class Copy : public Sink {
 public:
  // `stored`: the cursor in the target.
  Copy(Link& target, const std::string& queue, std::string stored, OnChunk on_chunk,
       std::function<void(const std::string&, bool, const std::string&)> tell)
      : target_(target),
        queue_(queue),
        stored_(std::move(stored)),
        keys_(queue),
        on_chunk_(std::move(on_chunk)),
        tell_(std::move(tell)) {}

  Result<void> take(const Chunk& chunk) override;
  Result<void> take(const Part& part) override;
  void tell(const std::string& job, bool left_out, const std::string& text) override {
    tell_(job, left_out, text);
  }
  [[nodiscard]] std::int64_t moved() const { return moved_; }
  [[nodiscard]] std::int64_t renamed() const { return renamed_; }

 private:
  Link& target_;
  const std::string& queue_;
  std::string stored_;
  QueueKeys keys_;
  OnChunk on_chunk_;
  std::function<void(const std::string&, bool, const std::string&)> tell_;
  std::int64_t moved_ = 0;
  std::int64_t renamed_ = 0;
};

}  // namespace echomq::inline v2::migrate

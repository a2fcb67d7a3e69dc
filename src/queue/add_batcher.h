// SPDX-License-Identifier: MIT
// AddBatcher: group commit of adds. Pure: it decides what goes into the next flush and in which
// lane.
//
// The rule: send at once when idle; while a flush is on its way, collect; never wait on a timer.
// There are two lanes, each with one flush in flight, so that the server works on one batch while
// the next one is being built; the second lane opens only for a batch that is worth a call, because
// small ones are better collected. The script remembers the last flush that it applied for each
// lane, so repeating one whose answer was lost is harmless (protocol.md 5.9).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "echomq/queue.h"
#include "job/encode.h"

namespace echomq::inline v2 {

inline constexpr std::size_t kMaxBatchJobs = 256;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{256} << 10;

struct PendingAdd {
  job::EncodedJob job;
  AddCallback done;
  Durability durability{};
  // A blocking caller waits: answered on the loop, whatever ClientOptions::post says.
  bool direct = false;
};

class AddBatcher {
 public:
  static constexpr unsigned kLanes = 2;
  // What a call costs besides its jobs is little from here on.
  static constexpr std::size_t kWorthASecondFlush = 64;

  struct Flush {
    unsigned lane = 0;
    // How it is known to the script, set when it is first sent: repeated, it says the same again,
    // even if this process holds another node id by then.
    std::string producer{};
    std::uint64_t grant = 0;
    std::uint64_t number = 0;
    std::vector<PendingAdd> adds;
    std::vector<std::string>
        minted{};          // the ids of those without one, kept when the flush is repeated
    bool renewed = false;  // the node's grant, because it allowed no further id
  };

  void push(PendingAdd add) {
    bytes_ += add.job.bytes();
    backlog_.push_back(std::move(add));
  }

  // The next flush to send now, if any. Its lane is taken until done(lane).
  std::optional<Flush> next() {
    if (backlog_.empty()) return std::nullopt;
    const bool worth_it = backlog_.size() >= kWorthASecondFlush || bytes_ >= kMaxBatchBytes;
    const bool idle = !busy_[0] && !busy_[1];
    if (!idle && !worth_it) return std::nullopt;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (!busy_[lane]) return take(lane);
    return std::nullopt;
  }

  void done(unsigned lane) { busy_.at(lane) = false; }

  // All that has not been sent, to be refused together.
  std::vector<PendingAdd> drain() {
    std::vector<PendingAdd> all(std::make_move_iterator(backlog_.begin()),
                                std::make_move_iterator(backlog_.end()));
    backlog_.clear();
    bytes_ = 0;
    return all;
  }

  [[nodiscard]] bool empty() const { return backlog_.empty(); }

 private:
  // At most 256 jobs and 256 KiB; a larger job goes alone.
  Flush take(unsigned lane) {
    Flush flush;
    flush.lane = lane;
    std::size_t size = 0;
    while (!backlog_.empty() && flush.adds.size() < kMaxBatchJobs) {
      const auto next = backlog_.front().job.bytes();
      if (!flush.adds.empty() && size + next > kMaxBatchBytes) break;
      size += next;
      bytes_ -= next;
      flush.adds.push_back(std::move(backlog_.front()));
      backlog_.pop_front();
    }
    busy_.at(lane) = true;
    return flush;
  }

  std::deque<PendingAdd> backlog_;
  std::size_t bytes_ = 0;
  std::array<bool, kLanes> busy_{};
};

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// Compares what a walk reads with what stands in the target: each job with all its fields, its
// place among the others, and the keys beside it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "migrate/target.h"
#include "migrate/walk.h"

namespace echomq::inline v2::migrate {

class Compare : public Sink {
 public:
  using OnDifference = std::function<void(const std::string& job, const std::string& text)>;

  Compare(Link& target, const std::string& queue, OnChunk on_chunk, OnDifference on_difference)
      : target_(target),
        queue_(queue),
        on_chunk_(std::move(on_chunk)),
        differs_(std::move(on_difference)) {}

  Result<void> take(const Chunk& chunk) override;
  Result<void> take(const Part& part) override;
  void tell(const std::string& job, bool left_out, const std::string& text) override {
    if (left_out) differs_(job, "was left out: " + text);
  }
  // After the walk: whether the target holds more than that. `now_ms` is the source's time, by
  // which it has forgotten deduplication ids that the target holds still.
  Result<void> count(const Fields& settings, std::int64_t now_ms);
  [[nodiscard]] std::int64_t compared() const { return compared_; }

 private:
  struct Counted {
    Structure place = Structure::wait;
    std::int64_t at = 0;
  };

  // A key that one job, scheduler or metric has: its parts follow each other.
  struct Own {
    std::string key{};
    std::string job{};
    std::int64_t expected = 0;
    std::int64_t found = 0;
  };

  Result<void> places(const Chunk& chunk);
  Result<void> jobs(const Chunk& chunk);
  Result<void> strange_subs(const MovedJob& job);
  Counted& counted(Structure place);
  Counted* shared(const std::string& part_key);
  void end_own();
  Result<void> count_shared();
  Result<void> count_deduplication(std::int64_t now_ms);
  Result<void> absent();
  Result<void> compare_settings(const Fields& settings);

  Link& target_;
  const std::string& queue_;
  OnChunk on_chunk_;
  OnDifference differs_;
  std::array<Counted, 6> counts_{{{Structure::wait, 0},
                                  {Structure::prioritized, 0},
                                  {Structure::delayed, 0},
                                  {Structure::waiting_children, 0},
                                  {Structure::completed, 0},
                                  {Structure::failed, 0}}};
  // Keys of the queue that grow with many parts.
  std::array<Counted, 5> shared_{{{Structure::subkeys, 0},
                                  {Structure::schedules, 0},
                                  {Structure::de, 0},
                                  {Structure::de_due, 0},
                                  {Structure::de_next, 0}}};
  std::int64_t compared_ = 0;
  Own own_{};
  // The keys beside the jobs of the next chunk, and those of metrics.
  std::set<std::string> subs_{};
  std::set<std::string> metrics_{};
  std::vector<std::int64_t> untils_{};  // of the deduplication ids
};

}  // namespace echomq::inline v2::migrate

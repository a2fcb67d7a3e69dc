// SPDX-License-Identifier: MIT
// Compares what a walk reads with what stands in the target: each job with all its fields, its
// place among the others, and the keys beside it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

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
  // After the walk: whether the target holds more than that.
  Result<void> count(const Fields& settings);
  [[nodiscard]] std::int64_t compared() const { return compared_; }

 private:
  struct Counted {
    Structure place = Structure::wait;
    std::int64_t at = 0;
  };

  Result<void> places(const Chunk& chunk);
  Counted& counted(Structure place);

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
  std::int64_t compared_ = 0;
  std::string list_key_{};
  std::int64_t list_at_ = 0;
};

}  // namespace echomq::inline v2::migrate

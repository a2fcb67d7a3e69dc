// SPDX-License-Identifier: MIT
// Ends: how the jobs of one job/finish ended, told once for each run of jobs that are alike in it
// (the header of lua/job/finish.lua has the form). Jobs of one claim that are ended together mostly
// are. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace echomq::inline v2::job {

struct End {
  std::uint64_t lease = 0;  // as it is known to who ends it
  unsigned claims_ended = 0;
  unsigned attempts_made = 0;
  unsigned crashes = 0;
  std::int64_t started_ms = 0;
  std::string_view value{};  // the result, or the reason

  friend bool operator==(const End&, const End&) = default;
};

class Ends {
 public:
  // The next job of the batch. Its value is looked at until the call after the next, or text().
  void put(const End& end) {
    if (jobs_ != 0 && !(end == end_)) close();
    end_ = end;
    ++jobs_;
  }
  [[nodiscard]] std::string text() {
    close();
    return std::move(text_);
  }

 private:
  void close() {
    if (jobs_ == 0) return;
    put_number(jobs_);
    put_number(end_.lease);
    put_number(end_.claims_ended);
    put_number(end_.attempts_made);
    put_number(end_.crashes);
    put_number(static_cast<std::uint64_t>(end_.started_ms));
    put_number(end_.value.size());
    text_ += end_.value;
    jobs_ = 0;
  }
  void put_number(std::uint64_t number) { text_.append(std::to_string(number)).append(1, ':'); }

  End end_;  // of the run that is open
  std::size_t jobs_ = 0;
  std::string text_;
};

}  // namespace echomq::inline v2::job

// SPDX-License-Identifier: MIT
// Shapes: what the jobs of one job/add have besides id and data, told once for each run of jobs
// that are alike in it (the header of lua/job/add.lua has the form). Most batches are one run.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "job/encode.h"

namespace echomq::inline v2::job {

class Shapes {
 public:
  // The next job of the batch. It is not looked at after the call that follows, nor after text().
  void put(const EncodedJob& job) {
    if (first_ == nullptr || !alike(*first_, job)) {
      close();
      first_ = &job;
    }
    ++jobs_;
  }
  [[nodiscard]] std::string text() {
    close();
    return std::move(text_);
  }

 private:
  static bool alike(const EncodedJob& a, const EncodedJob& b) {
    return a.id.empty() == b.id.empty() && a.delay_ms == b.delay_ms && a.priority == b.priority &&
           a.lifo == b.lifo && a.name == b.name && a.opts == b.opts;
  }

  void close() {
    if (first_ == nullptr) return;
    const auto& job = *first_;
    for (const auto number :
         {static_cast<std::int64_t>(jobs_), static_cast<std::int64_t>(!job.id.empty()),
          static_cast<std::int64_t>(job.delay_ms), static_cast<std::int64_t>(job.priority),
          static_cast<std::int64_t>(job.lifo), static_cast<std::int64_t>(job.name.size()),
          static_cast<std::int64_t>(job.opts.size())})
      text_ += std::to_string(number) + ":";
    text_ += job.name;
    text_ += job.opts;
    first_ = nullptr;
    jobs_ = 0;
  }

  const EncodedJob* first_ = nullptr;  // of the run that is open
  std::size_t jobs_ = 0;               // in it
  std::string text_;
};

}  // namespace echomq::inline v2::job

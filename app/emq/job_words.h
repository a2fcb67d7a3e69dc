// SPDX-License-Identifier: MIT
// The options of a job as they are typed, for all verbs that say what jobs are like.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "echomq/options.h"
#include "echomq/result.h"

namespace emq {

// Sets one option of a job from its text. `option`: as the user typed it, by which errors name it:
// --keep-failed, keep_failed. Answers whether there is such an option.
echomq::Result<bool> set_job_option(const std::string& option, const std::string& text,
                                    echomq::JobOptions& options);

struct JobWords {
  bool lifo = false;
  std::optional<std::string> expires{};
  std::string priority = "0";
  std::string attempts = "1";
  std::string backoff = "none";
  std::optional<std::string> keep_completed{};
  std::optional<std::string> keep_failed{};
  std::string traceparent{};

  // It must outlive the parsing.
  void declare(CLI::App& verb);
  [[nodiscard]] echomq::Result<echomq::JobOptions> read() const;
};

}  // namespace emq

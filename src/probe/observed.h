// SPDX-License-Identifier: MIT
// What the scripts have answered: every item status and every error class word, noted by script. At
// the end of a full run of the tests, or of a probe, it is compared with what the scripts declare:
// a word that nobody provoked is a word that nobody knows to work.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/script.h"
#include "wire/resp.h"

namespace echomq::inline v2::probe {

// Any thread.
class Observed {
 public:
  // Notes the answer of one call.
  void note(const Script& script, const wire::Reply& reply);

  // One line for each declared status or class word that was not observed, and for each one that
  // was observed although its script does not declare it; empty when all is as declared.
  [[nodiscard]] std::vector<std::string> gaps() const;

  // Of all calls of this process.
  static Observed& of_process();

 private:
  using Words = std::set<std::string, std::less<>>;
  struct Replies {
    Words errors;
    Words statuses;
  };

  static void compare(std::string_view script, std::string_view kind,
                      std::span<const std::string_view> declared, const Words& seen,
                      std::vector<std::string>& gaps);

  mutable std::mutex mutex_;
  std::map<std::string, Replies, std::less<>> scripts_;
};

}  // namespace echomq::inline v2::probe

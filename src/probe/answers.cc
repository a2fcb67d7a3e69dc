// SPDX-License-Identifier: MIT
#include "probe/answers.h"

#include <algorithm>
#include <array>

#include "probe/recorder.h"

namespace echomq::inline v2::probe {
namespace {

struct Answer {
  std::string_view script;
  std::string_view text;
};

// In the order of the exercises. Numbers are those of the scene: it is 1800000023000 there.
constexpr std::array kAnswers{
    Answer{"queue/open", "0"},
};

}  // namespace

std::optional<std::string_view> right_answer(std::string_view script, std::size_t n) {
  for (const auto& answer : kAnswers)
    if (answer.script == script && n-- == 0) return answer.text;
  return std::nullopt;
}

std::string spoken_answer(const Reply& reply, const ScriptQueue& q) {
  return renamed(show(reply), q.name(), "Q");
}

}  // namespace echomq::inline v2::probe

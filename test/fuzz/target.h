// SPDX-License-Identifier: MIT
// Fuzz targets: functions that take any bytes and check what must hold of a parser for all of them.
// The same functions run in two places: under libFuzzer (`./run fuzz`, main.cc), which looks for
// inputs, and in unit_tests, which replays the inputs in corpus/<target>/ on every test run. So a
// target must not depend on libFuzzer, nor on anything but its input.
//
// An input that once broke something belongs into corpus/<target>/ under the name of its symptom.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace echomq::fuzz {

// Each throws Broken when a property does not hold. What the bytes mean is told in each file.
void resp(std::string_view input);
void job(std::string_view input);
void url(std::string_view input);
void id(std::string_view input);
void key(std::string_view input);
void cron(std::string_view input);

struct Target {
  std::string_view name;  // of the file, the corpus and the program fuzz_<name>
  void (*run)(std::string_view input);
};

inline constexpr std::array<Target, 6> kTargets{
    {{"resp", resp}, {"job", job}, {"url", url}, {"id", id}, {"key", key}, {"cron", cron}}};

class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, std::string_view property, std::string_view found = {}) {
  if (holds) return;
  std::string what = "broken: " + std::string(property);
  if (!found.empty()) what += "; found: " + std::string(found);
  throw Broken(what);
}

}  // namespace echomq::fuzz

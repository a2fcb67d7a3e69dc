// SPDX-License-Identifier: MIT
// What was measured, and what is said about it: medians, ratios, targets, as JSON and as a table.
// Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/statistics.h"
#include "echomq/result.h"

namespace bench {

using Json = nlohmann::ordered_json;

// One measurement of a row.
struct Sample {
  double value = 0;
  std::optional<double> server_us{};  // processor time of the server for each job
  std::optional<double> client_us{};  // and of the measured process
};

// All measurements of one row, one subject ("ours", "floor", "peer") and one setting of the server.
struct Series {
  std::string row;
  std::string persistence;
  std::string subject;
  std::vector<Sample> samples{};

  [[nodiscard]] std::vector<double> values() const;
};

// What a row measures, in the order of the table.
struct RowKind {
  std::string_view row;
  std::string_view title;
  std::string_view unit;
  bool less_is_better = false;
};
const std::vector<RowKind>& row_kinds();

// A ratio of two subjects, or a value of ours, that has a target.
struct Target {
  std::string_view name;
  std::string_view row;
  std::string_view against;  // "floor" or "peer"; empty: the value itself
  bool at_most = false;
  std::optional<double> bound{};
};
const std::vector<Target>& targets();

class Results {
 public:
  void add(std::string_view row, std::string_view persistence, std::string_view subject,
           Sample sample);
  [[nodiscard]] const Series* find(std::string_view row, std::string_view persistence,
                                   std::string_view subject) const;
  [[nodiscard]] const std::vector<Series>& all() const { return series_; }
  // The settings that were measured, in the order of measuring.
  [[nodiscard]] std::vector<std::string> persistences() const;
  // nullopt: not measured.
  [[nodiscard]] std::optional<double> of(const Target& target, std::string_view persistence) const;

 private:
  std::vector<Series> series_;
};

// {"ratios": of the first setting, "ratios_by_persistence": {..}, "targets": [..], "rows": [..]}.
// Whatever was not measured is null.
Json to_json(const Results& results);

// A table in Markdown for each setting of the server.
std::string to_markdown(const Results& results);

// The document with what stands between its two marks replaced.
// Error: invalid_argument (it lacks them).
inline constexpr std::string_view kBeginMark = "<!-- bench:begin -->";
inline constexpr std::string_view kEndMark = "<!-- bench:end -->";
echomq::Result<std::string> with_table(std::string_view document, std::string_view table);

// "123,000", "12.3", "0.012": three digits that count.
std::string rounded(double value);

}  // namespace bench

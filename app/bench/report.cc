// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/results.h"

namespace bench {
namespace {

Json nullable(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

// The median of what some samples may lack.
std::optional<double> median_of(const Series& series, std::optional<double> Sample::*const member) {
  std::vector<double> values;
  for (const auto& sample : series.samples)
    if (sample.*member) values.push_back(*(sample.*member));
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

bool met(const Target& target, double value) {
  return target.at_most ? value <= *target.bound : value >= *target.bound;
}

Json ratios(const Results& results, std::string_view persistence) {
  Json all = Json::object();
  for (const auto& target : targets())
    if (!target.against.empty())
      all[std::string(target.name)] = nullable(results.of(target, persistence));
  return all;
}

Json row_json(const RowKind& kind, const Series& series) {
  const auto all = summary(series.values());
  return {{"row", series.row},
          {"persistence", series.persistence},
          {"subject", series.subject},
          {"unit", kind.unit},
          {"median", all.median},
          {"min", all.least},
          {"max", all.most},
          {"samples", series.values()},
          {"server_cpu_us_per_job", nullable(median_of(series, &Sample::server_us))},
          {"client_cpu_us_per_job", nullable(median_of(series, &Sample::client_us))}};
}

std::string grouped(std::string digits) {
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string cell(const Series* series) {
  return series == nullptr ? "" : rounded(summary(series->values()).median);
}

// Both processors' times, where a row has them.
std::string cpu_cell(const Series* series) {
  if (series == nullptr) return "";
  const auto server = median_of(*series, &Sample::server_us);
  const auto client = median_of(*series, &Sample::client_us);
  if (!server || !client) return "";
  return rounded(*server) + " + " + rounded(*client);
}

std::string ratio_cell(const Series* ours, const Series* theirs) {
  if (ours == nullptr || theirs == nullptr) return "";
  const auto ratio = paired_ratio(ours->values(), theirs->values());
  return ratio ? fmt::format("{:.2f}", *ratio) : "";
}

std::string target_cell(const Results& results, std::string_view row,
                        std::string_view persistence) {
  std::string text;
  for (const auto& target : targets()) {
    if (target.row != row || !target.bound) continue;
    const auto value = results.of(target, persistence);
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {:g}{}", target.at_most ? "<=" : ">=", *target.bound,
                        target.against.empty() ? "" : fmt::format(" of {}", target.against));
    if (value) text += met(target, *value) ? ", met" : ", missed";
  }
  return text;
}

}  // namespace

std::string rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return "0";
  const auto digits = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  const double step = std::pow(10.0, digits - 2);
  const double near = std::round(value / step) * step;
  if (digits >= 2) return grouped(fmt::format("{:.0f}", near));
  return fmt::format("{:.{}f}", near, 2 - digits);
}

Json to_json(const Results& results) {
  const auto settings = results.persistences();
  Json json;
  json["ratios"] = ratios(results, settings.empty() ? "" : settings.front());
  json["ratios_by_persistence"] = Json::object();
  json["targets"] = Json::array();
  json["rows"] = Json::array();
  for (const auto& persistence : settings) {
    json["ratios_by_persistence"][persistence] = ratios(results, persistence);
    for (const auto& target : targets()) {
      if (!target.bound) continue;
      const auto value = results.of(target, persistence);
      json["targets"].push_back({{"name", target.name},
                                 {"persistence", persistence},
                                 {"at", target.at_most ? "most" : "least"},
                                 {"bound", *target.bound},
                                 {"value", nullable(value)},
                                 {"met", value ? Json(met(target, *value)) : Json(nullptr)}});
    }
    for (const auto& kind : row_kinds())
      for (const auto* subject : {"ours", "floor", "peer"})
        if (const auto* series = results.find(kind.row, persistence, subject))
          json["rows"].push_back(row_json(kind, *series));
  }
  return json;
}

std::string to_markdown(const Results& results) {
  std::string text;
  for (const auto& persistence : results.persistences()) {
    text += fmt::format("{}Persistence: {}\n\n", text.empty() ? "" : "\n", persistence);
    text +=
        "| row | unit | ours | floor | peer | ours/floor | ours/peer | CPU of ours: server + "
        "client, us a job | CPU of peer | target |\n"
        "|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n";
    for (const auto& kind : row_kinds()) {
      const auto* ours = results.find(kind.row, persistence, "ours");
      const auto* floor = results.find(kind.row, persistence, "floor");
      const auto* peer = results.find(kind.row, persistence, "peer");
      if (ours == nullptr) continue;
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", kind.title,
                          kind.unit, cell(ours), cell(floor), cell(peer), ratio_cell(ours, floor),
                          ratio_cell(ours, peer), cpu_cell(ours), cpu_cell(peer),
                          target_cell(results, kind.row, persistence));
    }
  }
  return text;
}

echomq::Result<std::string> with_table(std::string_view document, std::string_view table) {
  const auto begin = document.find(kBeginMark);
  const auto end = document.find(kEndMark);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return echomq::Error{
        echomq::ErrorCode::invalid_argument,
        fmt::format("the document lacks the lines {} and {}", kBeginMark, kEndMark),
        {}};
  std::string out(document.substr(0, begin + kBeginMark.size()));
  out.append("\n\n").append(table).append("\n");
  return out.append(document.substr(end));
}

}  // namespace bench

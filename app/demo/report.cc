// SPDX-License-Identifier: MIT
#include "demo/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace demo {
namespace {

double jobs_per_s(const Report& report) {
  return static_cast<double>(report.files.paths.size()) / std::max(report.seconds, 0.001);
}

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " and ") + word;
  return text;
}

std::string about_files(const Files& files) {
  auto text = fmt::format("files of {}, {:.1f} MB", joined(files.folders),
                          static_cast<double>(files.bytes) / 1e6);
  if (files.more) text += "; there are more, see --limit";
  if (files.unreadable > 0) text += fmt::format("; {} unreadable skipped", files.unreadable);
  return text;
}

void row(std::string& table, const char* what, const std::string& value, const std::string& note) {
  table += fmt::format("  {:<10}{:>9}{}{}\n", what, value, note.empty() ? "" : "   ", note);
}

}  // namespace

std::string as_json(const Report& report) {
  nlohmann::ordered_json json;
  json["jobs"] = report.files.paths.size();
  json["seconds"] = rounded(report.seconds, 1000);
  json["jobs_per_s"] = rounded(jobs_per_s(report), 10);
  json["retried"] = report.verdict.retried;
  json["recovered"] = report.verdict.recovered;
  json["lost"] = report.verdict.lost;
  json["verified"] = report.verdict.verified;
  return json.dump() + "\n";
}

std::string as_table(const Report& report) {
  const auto& verdict = report.verdict;
  std::string table;
  row(table, "jobs", std::to_string(report.files.paths.size()), about_files(report.files));
  row(table, "seconds", fmt::format("{:.2f}", report.seconds),
      report.killed.empty() ? "" : "the wait for the killed worker's lease included");
  row(table, "jobs/s", fmt::format("{:.0f}", jobs_per_s(report)), "");
  row(table, "retried", std::to_string(verdict.retried), "");
  row(table, "recovered", std::to_string(verdict.recovered),
      report.killed.empty() ? "no worker was killed: the work ended first" : report.killed);
  if (verdict.failed > 0) row(table, "failed", std::to_string(verdict.failed), "");
  row(table, "lost", std::to_string(verdict.lost), "");
  row(table, "verified", std::to_string(verdict.verified),
      report.good() ? "every stored digest equals the file's" : "NOT ALL: see above");
  return table;
}

}  // namespace demo

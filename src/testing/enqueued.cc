// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "echomq/testing.h"

namespace echomq::inline v2::testing {
namespace {

constexpr std::size_t kPageJobs = 100;
constexpr std::size_t kShownJobs = 20;
constexpr std::size_t kShownBytes = 200;

// Bytes for people to read on one line.
std::string shown(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f)
      text += c;
    else
      (text += "\\x").append({kHex[byte >> 4], kHex[byte & 15]});
  }
  if (bytes.size() > kShownBytes) text += "... (" + std::to_string(bytes.size()) + " bytes)";
  return text;
}

std::string line_of(const JobInfo& job) {
  std::string line = job.id + " \"" + job.name + "\" " + std::string(name(job.state));
  const auto& options = job.options;
  if (options.priority != 0) line += ", priority " + std::to_string(options.priority);
  if (options.delay.count() != 0)
    line += ", delay " + std::to_string(options.delay.count()) + " ms";
  if (options.attempts != 1) line += ", attempts " + std::to_string(options.attempts);
  if (options.lifo) line += ", lifo";
  return line + ": " + shown(job.data);
}

}  // namespace

Result<std::vector<JobInfo>> enqueued_raw(RawQueue& queue) {
  std::vector<JobInfo> jobs;
  for (const auto state : {JobState::waiting, JobState::prioritized, JobState::delayed}) {
    PageOptions how{.limit = kPageJobs, .data = true};
    do {
      auto page = queue.jobs(state, how);
      // Nothing was ever added to it.
      if (!page && page.error().code == ErrorCode::not_found) return std::vector<JobInfo>();
      if (!page) return page.error();
      std::move(page->jobs.begin(), page->jobs.end(), std::back_inserter(jobs));
      how.cursor = page->next;
    } while (!how.cursor.empty());
  }
  return jobs;
}

std::string describe(const std::vector<JobInfo>& jobs) {
  if (jobs.empty()) return "nothing is enqueued";
  auto text = std::to_string(jobs.size()) +
              (jobs.size() == 1 ? " job is enqueued:" : " jobs are enqueued:");
  for (std::size_t i = 0; i < std::min(jobs.size(), kShownJobs); ++i)
    text += "\n  " + line_of(jobs[i]);
  if (jobs.size() > kShownJobs)
    text += "\n  and " + std::to_string(jobs.size() - kShownJobs) + " more";
  return text;
}

}  // namespace echomq::inline v2::testing

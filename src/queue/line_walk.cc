// SPDX-License-Identifier: MIT
#include "queue/line_walk.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "echomq/keyspace.h"
#include "job/record.h"
#include "queue/ask.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// So often a place is looked for that the script does not find, while the line moves.
constexpr int kLooksForPlace = 5;
// Entries of one such look, and how many of them the next one sees again.
constexpr std::int64_t kLookChunk = 4'096;
constexpr std::int64_t kLookOverlap = 512;
// Ghosts have no names. Behind a run of them that is longer than one answer half of them are read
// again, in case that some in front of them have left.
constexpr std::int64_t kGhostStep = 2'048;
// A job that was started since the line was read, or by another clock that is so far off just
// before, may have come back before its hash was looked at; it gets a mark that no job has.
constexpr std::int64_t kClockSlackMs = 20;
constexpr std::string_view kNoMark = "00000000";

// What the hash of a job says now.
struct Told {
  std::string mark;
  std::int64_t started_ms = 0;
};

Result<std::vector<Told>> ask_marks(QueueCore& queue, const std::vector<Passed>& passed) {
  std::vector<std::string> commands;
  for (const auto& job : passed)
    wire::append_command(commands.emplace_back(),
                         {"HMGET", job_key(queue.name(), job.id), "head", "run"});
  const auto hashes = ask_plainly(queue, std::move(commands));
  if (!hashes) return hashes.error();
  std::vector<Told> all;
  for (const auto& hash : *hashes) {
    const auto text = [&hash](std::size_t i) {
      return i < hash.items.size() ? std::string_view(hash.items[i].text) : std::string_view();
    };
    all.push_back(
        {mark_of(text(0), text(1)), job::read_runs(text(1)).value_or(job::Runs{}).started_ms});
  }
  return all;
}

// Those that have not ended a claim since, are not gone and were not added anew.
Result<std::vector<Passed>> unchanged(QueueCore& queue, std::vector<Passed> passed) {
  const auto marks = ask_marks(queue, passed);
  if (!marks) return marks.error();
  std::vector<Passed> same;
  for (std::size_t i = 0; i < passed.size(); ++i)
    if (passed[i].mark == (*marks)[i].mark) same.push_back(std::move(passed[i]));
  return same;
}

// Where one of them stands, nearer to the front than the script looked, since that is where claims
// move them.
Result<std::optional<std::int64_t>> find_in_front(QueueCore& queue, const std::string& line,
                                                  const LinePlace& place) {
  for (auto end = place.index + kLookChunk; end > 0; end -= kLookChunk - kLookOverlap) {
    const auto from = std::max<std::int64_t>(end - kLookChunk, 0);
    const auto reply = ask_plainly(
        queue, wire::command({"LRANGE", line, std::to_string(from), std::to_string(end)}));
    if (!reply) return reply.error();
    std::unordered_map<std::string_view, std::int64_t> there;
    for (std::size_t i = 0; i < reply->items.size(); ++i)
      there[reply->items[i].text] = from + static_cast<std::int64_t>(i);
    for (const auto& job : place.passed)
      if (const auto at = there.find(job.id); at != there.end()) return std::optional(at->second);
  }
  return std::optional<std::int64_t>();
}

// The entries behind one of a place that has stayed where it was passed; nullopt where none has.
Result<std::optional<LineRead>> read_from_place(QueueCore& queue, const std::string& line,
                                                PageOrder order, LinePlace& place,
                                                std::size_t limit) {
  auto& passed = place.passed;
  for (int look = 0; !passed.empty() && look < kLooksForPlace;) {
    std::vector<std::string> ids;
    ids.reserve(passed.size());
    for (const auto& job : passed) ids.push_back(job.id);
    auto read = read_line(queue, line, order, {.index = place.index, .behind = ids}, limit);
    if (!read) return read.error();
    if (!read->behind.empty()) {
      const auto it = std::find_if(passed.begin(), passed.end(),
                                   [&read](const Passed& job) { return job.id == read->behind; });
      passed.erase(passed.begin(), it);
      if (passed.empty()) break;
      const auto same = unchanged(queue, {passed.front()});
      if (!same) return same.error();
      if (!same->empty()) return std::optional(*std::move(read));
      passed.erase(passed.begin());  // it stands where it came back to
      continue;
    }
    auto same = unchanged(queue, std::move(passed));
    if (!same) return same.error();
    passed = *std::move(same);
    if (passed.empty()) break;
    const auto found = find_in_front(queue, line, place);
    if (!found) return found.error();
    if (!*found) break;
    place.index = **found;
    ++look;
  }
  return std::optional<LineRead>();
}

}  // namespace

Result<LineJobs> read_behind(QueueCore& queue, const std::string& line, PageOrder order,
                             LinePlace& place, std::size_t limit) {
  const bool descending = order == PageOrder::descending;
  std::int64_t again = 0;
  const auto read_ms = queue.client()->now_ms();
  const bool begun = !place.passed.empty();
  auto from_place = read_from_place(queue, line, order, place, limit);
  if (!from_place) return from_place.error();
  if (*from_place) {
    again = place.passed.front().distance;
    for (auto& job : place.passed) job.distance -= again;
  }
  if (!*from_place) {
    // All that was passed has left: only the end at which the line begins is sure to leave out
    // nothing.
    if (begun) again = std::numeric_limits<std::int64_t>::max();
    place = {};
    auto anew = read_line(queue, line, order, {.index = descending ? -1 : 0, .behind = {}}, limit);
    if (!anew) return anew.error();
    *from_place = *std::move(anew);
  }
  auto read = **std::move(from_place);
  while (read.jobs.empty() && read.more) {
    const auto next = read.next + (descending ? kGhostStep : -kGhostStep);
    auto further = read_line(queue, line, order, {.index = next, .behind = {}}, limit);
    if (!further) return further.error();
    read = *std::move(further);
  }
  return LineJobs{std::move(read.jobs), read.more, again, read_ms};
}

Result<void> note_marks(QueueCore& queue, LinePlace& place, std::int64_t read_ms) {
  std::vector<Passed> unknown;
  for (const auto& job : place.passed)
    if (job.mark.empty()) unknown.push_back(job);
  if (unknown.empty()) return {};
  const auto marks = ask_marks(queue, unknown);
  if (!marks) return marks.error();
  std::size_t next = 0;
  for (auto& job : place.passed) {
    if (!job.mark.empty()) continue;
    const auto& [mark, started_ms] = (*marks)[next++];
    job.mark = started_ms < read_ms - kClockSlackMs ? mark : std::string(kNoMark);
  }
  return {};
}

}  // namespace echomq::inline v2

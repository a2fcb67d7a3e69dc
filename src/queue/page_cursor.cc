// SPDX-License-Identifier: MIT
#include "queue/page_cursor.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/bad_option.h"
#include "base/number.h"
#include "base/text.h"
#include "echomq/keyspace.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kParts = 6;
constexpr std::size_t kPlaceDigits = 16;  // scores are below 2^53

std::string_view letter(PageOrder order) { return order == PageOrder::ascending ? "a" : "d"; }

std::string_view word_of(PageOrder order) {
  return order == PageOrder::ascending ? "ascending" : "descending";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kPlaceDigits &&
         std::all_of(text.begin(), text.end(), is_digit);
}

bool is_place(JobState state, std::string_view text) {
  if (state != JobState::waiting) return is_number(text);
  return (text.starts_with('w') || text.starts_with('c')) && is_number(text.substr(1));
}

std::optional<std::vector<Passed>> read_one(std::string_view text) {
  if (!check_any_job_id(text)) return std::nullopt;
  return std::vector<Passed>{{std::string(text), {}, 0}};
}

std::optional<std::vector<Passed>> read_passed(std::string_view text) {
  std::vector<Passed> passed;
  do {
    const auto end = std::min(text.find(','), text.size());
    const auto job = text.substr(0, end);
    const auto after_id = std::min(job.find('/'), job.size());
    const auto after_mark = job.find('/', after_id + 1);
    if (after_mark == std::string_view::npos) return std::nullopt;
    const auto id = job.substr(0, after_id);
    const auto mark = job.substr(after_id + 1, after_mark - after_id - 1);
    const auto distance = job.substr(after_mark + 1);
    if (!check_any_job_id(id) || !is_mark(mark) || !is_number(distance)) return std::nullopt;
    passed.push_back({std::string(id), std::string(mark), to_number<std::int64_t>(distance)});
    text.remove_prefix(end);
    if (text.empty()) return passed;
    text.remove_prefix(1);
  } while (passed.size() < kMostPassed);
  return std::nullopt;
}

Error bad_cursor(std::string_view text, const std::string& expected) {
  return {ErrorCode::invalid_argument,
          "cursor is " + quoted(text) + "; expected " + expected,
          {{"option", "cursor"}, {"value", std::string(text)}, {"expected", expected}}};
}

}  // namespace

std::string encode_cursor(std::string_view queue, JobState state, PageOrder order,
                          const PageCursor& cursor) {
  std::string text = "1:";
  text += queue;
  text += ':';
  text += name(state);
  text += ':';
  text += letter(order);
  text += ':';
  text += cursor.place;
  text += ':';
  bool first = true;
  for (const auto& job : cursor.passed) {
    if (!std::exchange(first, false)) text += ',';
    text += job.id;
    if (state == JobState::waiting) text += '/' + job.mark + '/' + std::to_string(job.distance);
  }
  return text;
}

Result<PageCursor> decode_cursor(std::string_view queue, JobState state, PageOrder order,
                                 std::string_view text) {
  std::array<std::string_view, kParts> part{};
  auto rest = text;
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto colon = i + 1 < kParts ? rest.find(':') : rest.size();
    if (colon == std::string_view::npos) return bad_cursor(text, "JobPage::next of a page before");
    part[i] = rest.substr(0, colon);
    if (i + 1 < kParts) rest.remove_prefix(colon + 1);
  }
  const auto& [version, of_queue, of_state, of_order, place, jobs] = part;
  if (version != "1") return bad_cursor(text, "JobPage::next of a page before");
  if (of_queue != queue)
    return bad_cursor(text, "one of queue \"" + std::string(queue) + "\", not of \"" +
                                std::string(of_queue) + "\"");
  if (of_state != name(state))
    return bad_cursor(
        text, "one of the state " + std::string(name(state)) + ", not of " + quoted(of_state));
  if (of_order != letter(order))
    return bad_cursor(text, "one of the order " + std::string(word_of(order)));
  auto passed = state == JobState::waiting ? read_passed(jobs) : read_one(jobs);
  if (!passed || !is_place(state, place)) return bad_cursor(text, "JobPage::next of a page before");
  return PageCursor{std::string(place), *std::move(passed)};
}

Result<std::string> scan_cursor(const std::string& given) {
  constexpr std::size_t kMostDigits = 20;  // of 64 bits
  if (given.empty()) return std::string("0");
  if (given.size() > kMostDigits || !std::all_of(given.begin(), given.end(), is_digit))
    return bad_option("cursor", quoted(given), "what the page before answered");
  return given;
}

}  // namespace echomq::inline v2

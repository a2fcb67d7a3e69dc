// SPDX-License-Identifier: MIT
#include "schedule/zone_rule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "base/text.h"

namespace echomq::inline v2::schedule {
namespace {

constexpr std::int64_t kDay = 86'400;

// Takes what it reads off the front.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Letters, or anything in <>.
  bool name() {
    std::size_t length = 0;
    if (take('<')) {
      length = rest_.find('>');
      if (length == std::string_view::npos) return false;
      rest_.remove_prefix(length + 1);
      return length > 0;
    }
    while (length < rest_.size() && is_letter(rest_[length])) ++length;
    rest_.remove_prefix(length);
    return length > 0;
  }
  bool number(int most, int& out) {
    if (rest_.empty() || !is_digit(rest_[0])) return false;
    out = 0;
    while (!rest_.empty() && is_digit(rest_[0])) {
      out = out * 10 + (rest_[0] - '0');
      if (out > most) return false;
      rest_.remove_prefix(1);
    }
    return true;
  }
  // [+-]hh[:mm[:ss]], in seconds.
  bool time(int& out) {
    const bool minus = take('-');
    if (!minus) take('+');
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    if (!number(167, hours)) return false;
    if (take(':') && !number(59, minutes)) return false;
    if (take(':') && !number(59, seconds)) return false;
    out = (hours * 60 + minutes) * 60 + seconds;
    if (minus) out = -out;
    return true;
  }
  bool change(ZoneRule::Change& out) {
    using Day = ZoneRule::Change::Day;
    if (take('M')) {
      if (!number(12, out.month) || !take('.') || !number(5, out.week) || !take('.') ||
          !number(6, out.day) || out.month == 0 || out.week == 0)
        return false;
    } else {
      out.kind = take('J') ? Day::julian : Day::zero_based;
      if (!number(365, out.day) || (out.kind == Day::julian && out.day == 0)) return false;
    }
    return !take('/') || time(out.time);
  }

 private:
  std::string_view rest_;
};

int year_of(std::int64_t second) {
  using namespace std::chrono;
  const auto day = floor<days>(sys_seconds(seconds(second)));
  return static_cast<int>(year_month_day(day).year());
}

// Of a zone file: numbers are big-endian.
std::int64_t number_at(std::string_view file, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    number = number << 8U | static_cast<unsigned char>(file[at + i]);
  return static_cast<std::int64_t>(number);
}

struct Block {
  std::size_t bytes = 0;    // behind the header
  std::size_t changes = 0;  // of them, at its beginning
};

constexpr std::size_t kHeader = 44;

// With numbers of so many bytes.
std::optional<Block> read_block(std::string_view file, std::size_t at, std::size_t number) {
  if (file.size() < at + kHeader || file.substr(at, 4) != "TZif") return std::nullopt;
  std::array<std::size_t, 6> count{};  // isut, isstd, leap, changes, types, letters
  for (std::size_t i = 0; i < count.size(); ++i)
    count[i] = static_cast<std::size_t>(number_at(file, at + 20 + 4 * i, 4));
  for (const auto each : count)
    if (each > file.size()) return std::nullopt;
  const auto bytes = count[3] * (number + 1) + count[4] * 6 + count[5] + count[2] * (number + 4) +
                     count[1] + count[0];
  if (file.size() < at + kHeader + bytes) return std::nullopt;
  return Block{bytes, count[3]};
}

}  // namespace

std::optional<ZoneRule> ZoneRule::read(std::string_view text) {
  Reader reader(text);
  ZoneRule rule;
  int west = 0;  // of Greenwich, as the text has it
  if (!reader.name() || !reader.time(west)) return std::nullopt;
  rule.standard_ = -west;
  if (reader.done()) return rule;
  rule.changes_ = true;
  if (!reader.name()) return std::nullopt;
  rule.summer_ = rule.standard_ + 3'600;
  if (!reader.take(',')) {
    if (!reader.time(west) || !reader.take(',')) return std::nullopt;
    rule.summer_ = -west;
  }
  if (!reader.change(rule.to_summer_) || !reader.take(',') || !reader.change(rule.to_standard_) ||
      !reader.done())
    return std::nullopt;
  return rule;
}

std::int64_t ZoneRule::instant(const Change& change, int year, std::int64_t offset) {
  using namespace std::chrono;
  const auto first = sys_days(std::chrono::year(year) / January / 1);
  auto day = first + days(change.day);
  if (change.kind == Change::Day::julian) {
    // The 29th of February is not counted.
    const bool behind = std::chrono::year(year).is_leap() && change.day >= 60;
    day = first + days(change.day - 1 + (behind ? 1 : 0));
  } else if (change.kind == Change::Day::of_month) {
    const auto month = std::chrono::year(year) / std::chrono::month(unsigned(change.month));
    const weekday wanted(unsigned(change.day));
    day = change.week == 5 ? sys_days(month / wanted[last])
                           : sys_days(month / wanted[unsigned(change.week)]);
  }
  return day.time_since_epoch().count() * kDay + change.time - offset;
}

ZoneRule::Span ZoneRule::at(std::int64_t second) const {
  if (!changes_) return always(standard_);
  struct Event {
    std::int64_t at;
    std::int64_t offset;  // from then on
  };
  // Those of the year, and one on either side of it.
  std::array<Event, 6> events{};
  const auto year = year_of(second);
  std::size_t n = 0;
  for (const int each : {year - 1, year, year + 1}) {
    events[n++] = {instant(to_summer_, each, standard_), summer_};
    events[n++] = {instant(to_standard_, each, summer_), standard_};
  }
  // Where both come at once, summer never ends.
  std::sort(events.begin(), events.end(), [this](const Event& a, const Event& b) {
    return a.at != b.at ? a.at < b.at : a.offset == standard_ && b.offset != standard_;
  });
  const auto next = std::find_if(events.begin(), events.end(),
                                 [second](const Event& event) { return event.at > second; });
  const auto before = std::prev(next);
  return {before->at, next->at, before->offset};
}

std::optional<ZoneTail> read_zone_tail(std::string_view file) {
  const auto old = read_block(file, 0, 4);
  if (!old || file[4] < '2') return std::nullopt;  // the first version has no rule
  const auto at = kHeader + old->bytes;
  const auto block = read_block(file, at, 8);
  if (!block) return std::nullopt;
  auto text = file.substr(at + kHeader + block->bytes);
  if (text.size() < 2 || text.front() != '\n' || text.back() != '\n') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  const auto rule = ZoneRule::read(text);
  if (!rule) return std::nullopt;
  const auto last = block->changes == 0
                        ? -ZoneRule::kAlways
                        : number_at(file, at + kHeader + 8 * (block->changes - 1), 8);
  return ZoneTail{last, *rule};
}

}  // namespace echomq::inline v2::schedule

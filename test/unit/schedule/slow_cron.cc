// SPDX-License-Identifier: MIT
#include "unit/schedule/slow_cron.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>

namespace echomq::test {
namespace {

using Kind = SlowItem::Kind;

constexpr int kLeast[6]{0, 0, 0, 1, 1, 0};
constexpr int kMost[6]{59, 59, 23, 31, 12, 6};

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int year, int month) {
  constexpr int kDays[12]{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

struct Date {
  int year = 1970;
  int month = 1;
  int day = 1;
  int weekday = 4;  // of 1970-01-01; Sunday is 0
};

// By counting days, years and months at a time.
Date date_of(std::int64_t days) {
  Date date;
  date.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  while (days < 0) days += is_leap(--date.year) ? 366 : 365;
  for (int length = 365; length = is_leap(date.year) ? 366 : 365, days >= length; ++date.year)
    days -= length;
  for (; days >= days_in(date.year, date.month); ++date.month)
    days -= days_in(date.year, date.month);
  date.day = static_cast<int>(days) + 1;
  return date;
}

bool in_steps(int value, int from, int to, int step) {
  for (int at = from; at <= to; at += step)
    if (at == value) return true;
  return false;
}

// The working day of a month that is nearest to that day.
int near(const Date& date, int day) {
  int best = 0;
  const int first_weekday = (date.weekday - (date.day - 1) % 7 + 7) % 7;
  for (int at = 1; at <= days_in(date.year, date.month); ++at) {
    const int weekday = (first_weekday + at - 1) % 7;
    if (weekday == 0 || weekday == 6) continue;
    if (best == 0 || std::abs(at - day) < std::abs(best - day)) best = at;
  }
  return best;
}

bool item_matches(const SlowItem& item, int field, int value, const Date& date) {
  const int length = days_in(date.year, date.month);
  switch (item.kind) {
    case Kind::any: return in_steps(value, kLeast[field], kMost[field], item.step);
    case Kind::range:
      return in_steps(value, item.from, item.to, item.step) ||
             (field == 5 && value == 0 && in_steps(7, item.from, item.to, item.step));
    case Kind::last_day: return value == length - item.from;
    case Kind::near_day: return item.from <= length && value == near(date, item.from);
    case Kind::last_working_day: return value == near(date, length);
    case Kind::last_weekday: return value == item.from && date.day > length - 7;
    case Kind::nth_weekday:
      return value == item.from && date.day > 7 * (item.to - 1) && date.day <= 7 * item.to;
  }
  return false;
}

std::string item_text(const SlowItem& item) {
  const auto step = item.step == 1 ? std::string() : "/" + std::to_string(item.step);
  switch (item.kind) {
    case Kind::any: return "*" + step;
    case Kind::range:
      if (item.open || item.from == item.to) return std::to_string(item.from) + step;
      return std::to_string(item.from) + "-" + std::to_string(item.to) + step;
    case Kind::last_day: return item.from == 0 ? "L" : "L-" + std::to_string(item.from);
    case Kind::near_day: return std::to_string(item.from) + "W";
    case Kind::last_working_day: return "LW";
    case Kind::last_weekday: return std::to_string(item.from) + "L";
    case Kind::nth_weekday: return std::to_string(item.from) + "#" + std::to_string(item.to);
  }
  return {};
}

int any_of(int from, int to) { return *rc::gen::inRange(from, to + 1); }

SlowItem any_item(int field) {
  SlowItem item;
  const int special = any_of(0, 9);
  if (field == 3 && special == 0) return {.kind = Kind::last_day, .from = any_of(0, 5)};
  if (field == 3 && special == 1) return {.kind = Kind::near_day, .from = any_of(1, 31)};
  if (field == 3 && special == 2) return {.kind = Kind::last_working_day};
  if (field == 5 && special == 0) return {.kind = Kind::last_weekday, .from = any_of(0, 6)};
  if (field == 5 && special == 1)
    return {.kind = Kind::nth_weekday, .from = any_of(0, 6), .to = any_of(1, 5)};
  item.step = any_of(0, 1) == 0 ? 1 : any_of(1, kMost[field] - kLeast[field]);
  if (any_of(0, 2) == 0) return item;
  item.kind = Kind::range;
  item.from = any_of(kLeast[field], kMost[field]);
  item.to = any_of(item.from, field == 5 && item.from > 0 ? 7 : kMost[field]);
  if (item.step > 1 && any_of(0, 1) == 0) {
    item.open = true;
    item.to = kMost[field];
  } else if (item.from == item.to) {
    item.step = 1;
  }
  return item;
}

}  // namespace

std::string SlowPattern::text() const {
  std::string all;
  for (int field = with_seconds ? 0 : 1; field < 6; ++field) {
    std::string words;
    for (const auto& item : fields[field].items)
      words += (words.empty() ? "" : ",") + item_text(item);
    all += (all.empty() ? "" : " ") + words;
  }
  return all;
}

bool SlowPattern::matches(std::int64_t wall) const {
  const auto days = (wall - ((wall % 86'400) + 86'400) % 86'400) / 86'400;
  const auto second = static_cast<int>(wall - days * 86'400);
  const auto date = date_of(days);
  const int values[6]{second % 60, second / 60 % 60, second / 3'600,
                      date.day,    date.month,       date.weekday};
  bool field_matches[6]{};
  for (int field = 0; field < 6; ++field) {
    if (field == 0 && !with_seconds) {
      field_matches[0] = values[0] == 0;
      continue;
    }
    const auto& items = fields[field].items;
    field_matches[field] = std::any_of(items.begin(), items.end(), [&](const auto& item) {
      return item_matches(item, field, values[field], date);
    });
  }
  const bool either = fields[3].items[0].kind != Kind::any && fields[5].items[0].kind != Kind::any;
  const bool day =
      either ? field_matches[3] || field_matches[5] : field_matches[3] && field_matches[5];
  return day && field_matches[0] && field_matches[1] && field_matches[2] && field_matches[4];
}

// What a clock on the wall has shown once is behind it, and what it leaps over is made up for; but
// a pattern of any hour looks at each moment by itself.
std::vector<std::int64_t> SlowPattern::ticks(const schedule::Zone& zone, std::int64_t from,
                                             std::int64_t to) const {
  const std::int64_t step = with_seconds ? 1 : 60;
  const auto wall_at = [&](std::int64_t at) { return at + zone.at(at).offset; };
  std::vector<std::int64_t> all;
  if (any_hour()) {
    for (auto at = from; at < to; at += step)
      if (matches(wall_at(at))) all.push_back(at);
    return all;
  }
  auto begin = from - 86'400;
  auto shown = wall_at(begin);
  for (auto at = begin + step; at < to; at += step) {
    bool due = false;
    for (; shown < wall_at(at); shown += step) due = due || matches(shown + step);
    if (due && at >= from) all.push_back(at);
  }
  return all;
}

SlowPattern any_pattern(bool with_seconds) {
  SlowPattern pattern;
  pattern.with_seconds = with_seconds;
  for (int field = with_seconds ? 0 : 1; field < 6; ++field) {
    const int count = any_of(1, 2);
    for (int i = 0; i < count; ++i) pattern.fields[field].items.push_back(any_item(field));
  }
  return pattern;
}

}  // namespace echomq::test

// SPDX-License-Identifier: MIT
#include "schedule/cron_pattern.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "base/text.h"

namespace echomq::inline v2::schedule {

enum class FieldKind { second, minute, hour, day, month, weekday };

struct FieldForm {
  FieldKind kind;
  std::string_view name;
  unsigned least;
  unsigned most;  // of a weekday written as a number 7, which is Sunday too
  std::span<const std::string_view> names{};
};

namespace {

constexpr Wall kDaySeconds = 86'400;

constexpr std::array<std::string_view, 12> kMonthNames{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> kDayNames{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMacros{
    {{"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"},
     {"@monthly", "0 0 1 * *"},
     {"@weekly", "0 0 * * 0"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@hourly", "0 * * * *"}}};

constexpr std::array<FieldForm, 6> kForms{{{FieldKind::second, "second", 0, 59},
                                           {FieldKind::minute, "minute", 0, 59},
                                           {FieldKind::hour, "hour", 0, 23},
                                           {FieldKind::day, "day-of-month", 1, 31},
                                           {FieldKind::month, "month", 1, 12, kMonthNames},
                                           {FieldKind::weekday, "day-of-week", 0, 6, kDayNames}}};

constexpr std::uint64_t bit(unsigned value) { return std::uint64_t{1} << value; }
constexpr bool has(std::uint64_t set, unsigned value) { return (set >> value & 1U) != 0; }

// The least member of a set from that value on; 64: there is none.
unsigned from_on(std::uint64_t set, unsigned value) {
  return value > 63 ? 64U : static_cast<unsigned>(std::countr_zero(set >> value << value));
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return upper(x) == upper(y); });
}

unsigned days_of(int year, unsigned month) {
  using namespace std::chrono;
  return static_cast<unsigned>((std::chrono::year(year) / std::chrono::month(month) / last).day());
}

// Sunday is 0.
unsigned weekday_of(int year, unsigned month, unsigned day) {
  using namespace std::chrono;
  return weekday(
             sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)))
      .c_encoding();
}

// The working day of the month that is nearest to that day.
unsigned working_day_near(int year, unsigned month, unsigned day) {
  const auto weekday = weekday_of(year, month, day);
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < days_of(year, month) ? day + 1 : day - 2;
  return day;
}

}  // namespace

// Reads the fields of a pattern, one after the other.
class CronReader {
 public:
  explicit CronReader(std::string_view pattern) : pattern_(pattern) {}

  Result<CronPattern> read() {
    if (pattern_.size() > kMaxPatternBytes)
      return fault("pattern", 0, std::to_string(pattern_.size()) + " bytes",
                   "at most " + std::to_string(kMaxPatternBytes));
    text_ = pattern_;
    const auto first = text_.find_first_not_of(" \t");
    if (first != std::string_view::npos && text_[first] == '@') {
      const auto word = text_.substr(first, text_.find_last_not_of(" \t") + 1 - first);
      const auto* const macro =
          std::find_if(kMacros.begin(), kMacros.end(),
                       [word](const auto& entry) { return same_word(entry.first, word); });
      if (macro == kMacros.end())
        return fault("pattern", first, quoted(word),
                     "@yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly");
      text_ = macro->second;
    }
    if (auto problem = read_fields()) return *problem;
    if (!out_.next(0))
      return fault("day-of-month", day_at_, "a day that no month of the pattern has",
                   "a day that comes within a hundred years");
    return out_;
  }

 private:
  using Problem = std::optional<Error>;

  [[nodiscard]] Error fault(std::string_view field, std::size_t at, std::string_view found,
                            std::string_view expected) const {
    const auto position = std::to_string(at + 1);
    std::string detail = "the cron pattern " + quoted(pattern_) + " has " + std::string(found) +
                         " at byte " + position + " (" + std::string(field) + "); expected " +
                         std::string(expected);
    return {ErrorCode::invalid_argument,
            std::move(detail),
            {{"option", "pattern"},
             {"value", std::string(pattern_)},
             {"expected", std::string(expected)},
             {"field", std::string(field)},
             {"position", position}}};
  }

  Problem read_fields() {
    std::array<std::pair<std::size_t, std::size_t>, 6> fields{};  // where each begins and ends
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text_.find_first_not_of(" \t", at)) != std::string_view::npos;) {
      const auto end = std::min(text_.find_first_of(" \t", at), text_.size());
      if (count == fields.size())
        return fault("pattern", at, "a seventh field",
                     "5 fields (minute hour day-of-month month day-of-week), or 6 with the second "
                     "first");
      fields[count++] = {at, end};
      at = end;
    }
    if (count < 5)
      return fault("pattern", text_.size(), "the end after " + std::to_string(count) + " field(s)",
                   "5 fields (minute hour day-of-month month day-of-week), or 6 with the second "
                   "first");
    for (std::size_t i = 0; i < count; ++i) {
      const auto& form = kForms[i + kForms.size() - count];
      if (form.kind == FieldKind::day) day_at_ = fields[i].first;
      if (auto problem = read_field(form, fields[i].first, fields[i].second)) return problem;
    }
    return std::nullopt;
  }

  Problem read_field(const FieldForm& form, std::size_t begin, std::size_t end) {
    form_ = &form;
    values_ = 0;
    const char first = text_[begin];
    if (form.kind == FieldKind::hour) out_.any_hour_ = first == '*';
    if (form.kind == FieldKind::day) out_.any_day_ = first == '*' || first == '?';
    if (form.kind == FieldKind::weekday) out_.any_weekday_ = first == '*' || first == '?';
    at_ = begin;
    end_ = end;
    for (;;) {
      if (auto problem = read_item()) return problem;
      if (at_ == end_) break;
      if (text_[at_] != ',') return unexpected("a comma or the end of the field");
      ++at_;
    }
    switch (form.kind) {
      case FieldKind::second: out_.seconds_ = values_; break;
      case FieldKind::minute: out_.minutes_ = values_; break;
      case FieldKind::hour: out_.hours_ = values_; break;
      case FieldKind::day: out_.days_ = values_; break;
      case FieldKind::month: out_.months_ = values_; break;
      case FieldKind::weekday: out_.weekdays_ = values_; break;
    }
    return std::nullopt;
  }

  Problem read_item() {
    const char c = peek();
    const bool of_days = form_->kind == FieldKind::day || form_->kind == FieldKind::weekday;
    if (c == '*' || (c == '?' && of_days)) {
      ++at_;
      return put_range(form_->least, form_->most);
    }
    if (form_->kind == FieldKind::day && upper(c) == 'L') return read_last_day();
    const auto begin = at_;
    unsigned from = 0;
    if (auto problem = read_value(from)) return problem;
    if (form_->kind == FieldKind::day && upper(peek()) == 'W') {
      ++at_;
      out_.near_days_ |= bit(from);
      return std::nullopt;
    }
    if (form_->kind == FieldKind::weekday && upper(peek()) == 'L') {
      ++at_;
      out_.last_weekdays_ |= bit(from % 7);
      return std::nullopt;
    }
    if (form_->kind == FieldKind::weekday && peek() == '#') {
      ++at_;
      unsigned nth = 0;
      if (auto problem = read_number(1, 5, nth)) return problem;
      out_.nth_weekdays_[nth] |= bit(from % 7);
      return std::nullopt;
    }
    if (peek() != '-') return put_range(from, peek() == '/' ? form_->most : from);
    ++at_;
    unsigned to = 0;
    if (auto problem = read_value(to)) return problem;
    // A week may be said to end with its Sunday.
    if (form_->kind == FieldKind::weekday && to == 0 && from > 0) to = 7;
    if (to < from)
      return fault(form_->name, begin, "a range that ends before it begins",
                   "the lower value first");
    return put_range(from, to);
  }

  // L, L-3, LW
  Problem read_last_day() {
    ++at_;
    if (upper(peek()) == 'W') {
      ++at_;
      out_.last_working_day_ = true;
      return std::nullopt;
    }
    unsigned before = 0;
    if (peek() == '-') {
      ++at_;
      if (auto problem = read_number(1, 30, before)) return problem;
    }
    out_.days_before_last_ |= bit(before);
    return std::nullopt;
  }

  Problem put_range(unsigned from, unsigned to) {
    unsigned step = 1;
    if (peek() == '/') {
      ++at_;
      if (auto problem = read_number(1, form_->most - form_->least, step)) return problem;
    }
    for (unsigned value = from; value <= to; value += step)
      values_ |= bit(form_->kind == FieldKind::weekday ? value % 7 : value);
    return std::nullopt;
  }

  // A number of the field's range, or a name.
  Problem read_value(unsigned& value) {
    if (is_letter(peek()) && !form_->names.empty()) {
      const auto word = text_.substr(at_, std::min<std::size_t>(3, end_ - at_));
      for (std::size_t i = 0; i < form_->names.size(); ++i) {
        if (!same_word(form_->names[i], word)) continue;
        at_ += word.size();
        value = form_->least + static_cast<unsigned>(i);
        return std::nullopt;
      }
    }
    const bool of_week = form_->kind == FieldKind::weekday;
    return read_number(form_->least, of_week ? 7 : form_->most, value);
  }

  Problem read_number(unsigned least, unsigned most, unsigned& value) {
    const auto begin = at_;
    unsigned number = 0;
    while (is_digit(peek()) && at_ - begin < 4) {
      number = number * 10 + static_cast<unsigned>(text_[at_] - '0');
      ++at_;
    }
    if (at_ > begin && number >= least && number <= most && !is_digit(peek())) {
      value = number;
      return std::nullopt;
    }
    const auto end = std::min(text_.find_first_of(",/", std::min(begin, end_)), end_);
    auto expected = std::to_string(least) + " to " + std::to_string(most);
    if (!form_->names.empty())
      expected +=
          " or " + std::string(form_->names.front()) + " to " + std::string(form_->names.back());
    const auto found =
        end > begin ? quoted(text_.substr(begin, end - begin)) : std::string("nothing");
    return fault(form_->name, begin, found, expected);
  }

  [[nodiscard]] Error unexpected(std::string_view expected) const {
    return fault(form_->name, at_, quoted(text_.substr(at_, 1)), expected);
  }

  // NUL behind the end of the field.
  [[nodiscard]] char peek() const { return at_ < end_ ? text_[at_] : '\0'; }

  std::string_view pattern_;  // as it was given
  std::string_view text_;     // what it stands for
  CronPattern out_;
  const FieldForm* form_ = nullptr;  // of the field that is read
  std::uint64_t values_ = 0;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t day_at_ = 0;
};

Result<CronPattern> CronPattern::parse(std::string_view pattern) {
  return CronReader(pattern).read();
}

bool CronPattern::matches_day(int year, unsigned month, unsigned day) const {
  const auto length = days_of(year, month);
  const auto weekday = weekday_of(year, month, day);
  bool by_date = has(days_, day) || has(days_before_last_, length - day) ||
                 (last_working_day_ && day == working_day_near(year, month, length));
  for (auto at = from_on(near_days_, 0); !by_date && at <= length; at = from_on(near_days_, at + 1))
    by_date = day == working_day_near(year, month, at);
  const bool by_week = has(weekdays_, weekday) ||
                       (has(last_weekdays_, weekday) && day + 7 > length) ||
                       has(nth_weekdays_[(day + 6) / 7], weekday);
  // As crontab(5) of Vixie's cron has it: when both fields are restricted, either will do.
  return any_day_ || any_weekday_ ? by_date && by_week : by_date || by_week;
}

std::optional<Wall> CronPattern::time_from(Wall second_of_day) const {
  auto hour = static_cast<unsigned>(second_of_day / 3'600);
  auto minute = static_cast<unsigned>(second_of_day / 60 % 60);
  auto second = from_on(seconds_, static_cast<unsigned>(second_of_day % 60));
  if (second > 59) ++minute;
  if (!has(minutes_, minute) || second > 59) second = from_on(seconds_, 0);
  minute = from_on(minutes_, minute);
  if (minute > 59) ++hour;
  if (!has(hours_, hour) || minute > 59) {
    minute = from_on(minutes_, 0);
    second = from_on(seconds_, 0);
  }
  hour = from_on(hours_, hour);
  if (hour > 23) return std::nullopt;
  return hour * Wall{3'600} + minute * Wall{60} + second;
}

std::optional<Wall> CronPattern::next(Wall from) const {
  using namespace std::chrono;
  auto day = from / kDaySeconds - (from % kDaySeconds < 0 ? 1 : 0);
  auto second = from - day * kDaySeconds;
  for (const auto last_day = day + kCronHorizonDays; day <= last_day; second = 0) {
    const year_month_day date{sys_days(days(day))};
    if (!has(months_, static_cast<unsigned>(date.month()))) {
      const auto next_month = date.year() / date.month() / 1 + months(1);
      day = sys_days(next_month).time_since_epoch().count();
      continue;
    }
    if (matches_day(static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                    static_cast<unsigned>(date.day())))
      if (const auto time = time_from(second)) return day * kDaySeconds + *time;
    ++day;
  }
  return std::nullopt;
}

}  // namespace echomq::inline v2::schedule

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "contract/rules.h"

namespace echomq::inline v2::contract {
namespace {

using Kind = Expression::Kind;

// base + slope * counter, where the text tells it.
struct Line {
  long base = 0;
  long slope = 0;
  const Variable* counter = nullptr;
};

std::optional<long> literal(const Expression* e) {
  if (e == nullptr || e->kind != Kind::number || e->text.size() > 9 ||
      e->text.find_first_not_of("0123456789") != std::string::npos)
    return {};
  return std::strtol(e->text.c_str(), nullptr, 10);
}

std::optional<Line> line_of(const Expression& e);

std::optional<Line> combine(const Expression& e) {
  const auto left = line_of(*e.parts[0]);
  const auto right = line_of(*e.parts[1]);
  if (!left || !right) return {};
  if (left->counter != nullptr && right->counter != nullptr && left->counter != right->counter)
    return {};
  const Variable* counter = left->counter != nullptr ? left->counter : right->counter;
  if (e.text == "+") return Line{left->base + right->base, left->slope + right->slope, counter};
  if (e.text == "-") return Line{left->base - right->base, left->slope - right->slope, counter};
  if (e.text != "*" || (left->slope != 0 && right->slope != 0)) return {};
  return Line{left->base * right->base, left->base * right->slope + left->slope * right->base,
              counter};
}

std::optional<Line> line_of(const Expression& e) {
  if (const auto number = literal(&e)) return Line{*number, 0, nullptr};
  if (e.kind == Kind::group) return line_of(*e.parts[0]);
  if (e.kind == Kind::binary) return combine(e);
  if (e.kind != Kind::name || e.variable == nullptr || e.variable->assigned) return {};
  const Variable& variable = *e.variable;
  if (variable.kind == Variable::Kind::counter)
    return variable.step != 0 && literal(variable.first) ? std::optional(Line{0, 1, &variable})
                                                         : std::nullopt;
  if (variable.kind == Variable::Kind::local && variable.first != nullptr)
    return line_of(*variable.first);
  return {};
}

// KEYS or ARGV: what is declared, and what the text reads of it.
class Indexes {
 public:
  Indexes(const Reading& reading, Problems& problems, std::string table, const Words& fixed,
          std::size_t items, bool regular)
      : reading_(reading),
        problems_(problems),
        table_(std::move(table)),
        fixed_(fixed),
        count_(static_cast<long>(fixed.size())),
        items_(static_cast<long>(items)),
        regular_(regular) {}

  void run(const Position& declared, const char* what) {
    for (const Use& use : reading_.tree.uses) {
      const Expression& e = *use.expression;
      if (e.kind == Kind::index && e.text == "[" && e.parts[0]->is_global(table_)) element(e);
      if (e.kind == Kind::call && e.parts[0]->is_global("unpack") && e.parts.size() > 2 &&
          e.parts[1]->is_global(table_))
        spread(e);
    }
    for (long i = 1; i <= count_; ++i)
      if (!read_.contains(i))
        report(problems_, declared,
               std::string(what) + " '" + fixed_[static_cast<std::size_t>(i - 1)] + "' (" + table_ +
                   "[" + std::to_string(i) + "]) is declared and never used");
    if (items_ > 0 && !reads_items_)
      report(problems_, declared, "ITEM " + table_ + " is declared and no item is read");
  }

 private:
  void cover(long from, long to) {
    for (long i = from; i <= std::min(to, count_); ++i) read_.insert(i);
  }

  [[nodiscard]] bool is_count(const Expression* e) const {
    return e != nullptr && e->kind == Kind::unary && e->text == "#" &&
           e->parts[0]->is_global(table_);
  }

  void element(const Expression& e) {
    const Expression& index = *e.parts[1];
    if (const auto number = literal(&index)) {
      if (*number < 1 || *number > count_)
        report(problems_, e.at,
               table_ + "[" + index.text + "]: the header declares " + std::to_string(count_) +
                   " fixed ones; what is beyond them is reached by an expression");
      return cover(*number, *number);
    }
    const auto line = line_of(index);
    if (!line) {
      reads_items_ = true;  // the server-side audit of the live tests covers these
      return;
    }
    if (line->counter == nullptr) return constant(e, line->base);
    const long lowest = *literal(line->counter->first);
    const bool bare = index.variable == line->counter;
    const auto last = literal(line->counter->last);
    if (bare && (last || is_count(line->counter->last)) && lowest <= count_) {
      if (lowest < 1 || (last && *last > count_))
        report(problems_, e.at, table_ + "[" + index.text + "] leaves the fixed ones");
      if (!last && items_ > 0) reads_items_ = true;
      return cover(lowest, last.value_or(count_));
    }
    item(e, *line, lowest);
  }

  void constant(const Expression& e, long value) {
    if (value > count_) reads_items_ = true;
    if (value < 1 || value > count_ + items_)
      report(problems_, e.at,
             table_ + "[...] is " + std::to_string(value) +
                 " here, beyond what the "
                 "header declares");
    cover(value, std::min(value, count_));
  }

  // An index that runs with the items: its first value must lie in the first item, its step must be
  // the size of one.
  void item(const Expression& e, const Line& line, long lowest) {
    reads_items_ = true;
    const long value = line.base + line.slope * lowest;
    const std::string found = table_ + "[...] is " + std::to_string(value) + " in the first round";
    if (items_ == 0) {
      if (value > count_) report(problems_, e.at, found + ", and the header declares no items");
    } else if (value <= count_ || (lowest <= 1 && value > count_ + items_)) {
      report(problems_, e.at,
             found + ", and the first item is " + std::to_string(count_ + 1) + " to " +
                 std::to_string(count_ + items_));
    } else if (regular_ && line.slope != items_) {
      report(problems_, e.at,
             table_ + "[...] advances by " + std::to_string(line.slope) +
                 " a round, and an item has " + std::to_string(items_));
    }
  }

  void spread(const Expression& e) {
    const auto first = literal(e.parts[2]);
    const Expression* end = e.parts.size() > 3 ? e.parts[3] : nullptr;
    const auto last = literal(end);
    if (!last) reads_items_ = true;
    if (first && (*first < 1 || *first > count_ + 1))
      report(problems_, e.at,
             "unpack(" + table_ + ", " + e.parts[2]->text + ", ...) begins beyond the first item");
    if (last && *last > count_)
      report(problems_, e.at,
             "unpack(" + table_ + ", ..., " + end->text + ") ends beyond the fixed ones");
    if (first && last) cover(*first, *last);
    if (first && (end == nullptr || is_count(end))) cover(*first, count_);
  }

  const Reading& reading_;
  Problems& problems_;
  std::string table_;
  const Words& fixed_;
  long count_;
  long items_;
  bool regular_;
  std::set<long> read_;
  bool reads_items_ = false;
};

}  // namespace

void check_indexes(const Reading& reading, Problems& problems) {
  const Header& header = reading.script.header;
  Indexes(reading, problems, "KEYS", header.keys, header.item_keys.size() + header.more_keys.size(),
          header.more_keys.empty())
      .run(header.keys_at, "the key");
  Indexes(reading, problems, "ARGV", header.args, header.item_args.size(), true)
      .run(header.args_at, "the argument");
}

}  // namespace echomq::inline v2::contract

// SPDX-License-Identifier: MIT
// How `emq` speaks. Results go to stdout, for people as aligned text or, with --json, for programs
// as one JSON document a line; errors and progress go to stderr. Colours, and lines that rewrite
// themselves, appear on a terminal only, and not where NO_COLOR is set or TERM is "dumb".
//
// Job data is whatever somebody put into a queue: text that goes to people passes printable(), so
// that no escape sequence of a stranger reaches the terminal.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/result.h"
#include "exit_code.h"

namespace emq {

using Json = nlohmann::ordered_json;

enum class Style { plain, bold, dim, red, green, yellow };

bool is_terminal(std::FILE* stream);
// The text with the style's escape sequences where the stream may show them.
std::string paint(Style style, std::string_view text, std::FILE* stream);

// fmt::print, but for the exception that it throws when a reader is gone or a disk is full: main()
// asks the stream in the end, and until then the work goes on.
void put(std::FILE* stream, std::string_view text);
template <class... Args>
void print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  put(stream, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  put(stdout, fmt::format(format, std::forward<Args>(args)...));
}

// One document and a newline, to stdout. Bytes that are not UTF-8 become U+FFFD.
void print_json(const Json& document);
// A time in milliseconds since 1970; null where there is none (0).
Json time_json(std::int64_t unix_ms);
// object[field] = bytes where they are UTF-8; else null, and object[field + "_base64"] holds them.
void put_bytes(Json& object, const std::string& field, std::string_view bytes);

// Reports an error to stderr and answers the exit code for it.
Exit report(const echomq::Error& error, bool json);

// Control characters other than tab and newline as \xNN; what is not UTF-8 as U+FFFD.
std::string printable(std::string_view text);
bool is_utf8(std::string_view bytes);
// What is not UTF-8 as U+FFFD.
std::string to_utf8(std::string_view bytes);
// "12,345"
std::string grouped(std::int64_t number);

// Columns as wide as their widest cell. Numbers stand at the right.
class Table {
 public:
  struct Column {
    std::string head;
    bool right = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A line on stderr that is rewritten in place, and gone afterwards. Shows nothing where stderr is
// not a terminal, or where stdout is one too and `out_is_busy` (the two would mix).
class Progress {
 public:
  explicit Progress(bool out_is_busy);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace emq

// SPDX-License-Identifier: MIT
#include "output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "fleet/base64.h"

namespace emq {
namespace {

constexpr auto kReplace = Json::error_handler_t::replace;

const char* escape(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::bold: return "\x1b[1m";
    case Style::dim: return "\x1b[2m";
    case Style::red: return "\x1b[31m";
    case Style::green: return "\x1b[32m";
    case Style::yellow: return "\x1b[33m";
  }
  return "";
}

bool may_colour(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color && *no_color != '\0') return false;
  if (!term || std::string_view(term) == "dumb") return false;
  return is_terminal(stream);
}

// Characters, as a terminal counts them: continuation bytes of UTF-8 take no room.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

std::string paint(Style style, std::string_view text, std::FILE* stream) {
  if (style == Style::plain || !may_colour(stream)) return std::string(text);
  return std::string(escape(style)).append(text).append("\x1b[0m");
}

void put(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

void print_json(const Json& document) {
  put(stdout, document.dump(-1, ' ', false, kReplace) + "\n");
}

Json time_json(std::int64_t unix_ms) { return unix_ms == 0 ? Json(nullptr) : Json(unix_ms); }

void put_bytes(Json& object, const std::string& field, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object[field] = bytes;
  } else {
    object[field] = nullptr;
    object[field + "_base64"] = fleet::to_base64(bytes);
  }
}

Exit report(const echomq::Error& error, bool json) {
  if (json) {
    Json fields{{"code", name(error.code)}, {"detail", error.detail}};
    for (const auto& [key, value] : error.fields) fields[key] = value;
    put(stderr, Json{{"error", fields}}.dump(-1, ' ', false, kReplace) + "\n");
  } else {
    put(stderr, "emq: " + paint(Style::red, name(error.code), stderr) + ": " +
                    printable(error.detail) + "\n");
  }
  return exit_code(error.code);
}

std::string printable(std::string_view text) {
  std::string out;
  const std::string clean = to_utf8(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const auto byte = static_cast<unsigned char>(clean[i]);
    const bool c1 = byte == 0xC2 && i + 1 < clean.size() && (clean[i + 1] & 0xE0) == 0x80;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || c1) {
      // The 8-bit controls are two bytes in UTF-8, and the second is their number.
      const auto code = c1 ? static_cast<unsigned char>(clean[++i]) : byte;
      out += "\\x";
      out += "0123456789abcdef"[code >> 4];
      out += "0123456789abcdef"[code & 15];
    } else {
      out += clean[i];
    }
  }
  return out;
}

std::string to_utf8(std::string_view bytes) {
  // The JSON library knows what UTF-8 is: out with replacement, and in again.
  return Json::parse(Json(bytes).dump(-1, ' ', false, kReplace)).get<std::string>();
}

bool is_utf8(std::string_view bytes) { return to_utf8(bytes) == bytes; }

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

void Table::print() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width(columns_[i].head));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string gap(widths[i] - width(cells[i]), ' ');
      if (i > 0) out += "  ";
      out += columns_[i].right ? gap + cells[i] : cells[i] + gap;
    }
    return out.erase(out.find_last_not_of(' ') + 1);
  };
  std::vector<std::string> heads;
  for (const auto& column : columns_) heads.push_back(column.head);
  put(stdout, paint(Style::bold, line(heads), stdout) + "\n");
  for (const auto& row : rows_) put(stdout, line(row) + "\n");
}

Progress::Progress(bool out_is_busy)
    : enabled_(is_terminal(stderr) && !(out_is_busy && is_terminal(stdout))) {}

void Progress::show(const std::string& text) {
  if (!enabled_) return;
  put(stderr, "\r\x1b[K" + text);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) put(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace emq

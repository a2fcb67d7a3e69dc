// SPDX-License-Identifier: MIT
// Which field of a JSON document a type refuses. The JSON library tells what is wrong ("type must
// be number, but is string") and not where, unless every file of the program is built with
// JSON_DIAGNOSTICS. So the document is asked: each value that could be meant is replaced by one of
// yet another kind, and the one whose replacement shows in the message is it. That happens only
// after a refusal, in bounded work, and runs the type's from_json again on changed copies.
//
// For echomq/json.h; nothing here is called by hand.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "echomq/result.h"

namespace echomq::inline v2::detail {

// Takes everything, and keeps the place at which a text stops being JSON.
class JsonEnd final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  std::size_t position_ = 0;
};

inline Error not_json(std::string_view bytes) {
  JsonEnd end;
  nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &end);
  const auto at = std::to_string(end.position());
  return {ErrorCode::decode,
          "not JSON, from byte " + at + " of " + std::to_string(bytes.size()),
          {{"expected", "JSON"}, {"position", at}}};
}

// A JSON pointer (RFC 6901) is a path of such steps.
inline std::string json_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~')
      step += "~0";
    else if (c == '/')
      step += "~1";
    else
      step += c;
  }
  return step;
}

class JsonFault {
 public:
  // Answers what the conversion of a document throws, or "" for nothing.
  using Convert = std::function<std::string(const nlohmann::json&)>;

  // `document` was refused with `what`; it comes back as it was.
  JsonFault(nlohmann::json& document, std::string what, Convert convert)
      : document_(document), what_(std::move(what)), convert_(std::move(convert)) {}

  [[nodiscard]] Error error() {
    auto text = said();
    auto path = take_path(text);
    const auto key = missing_key(text);
    if (path && key)
      *path += json_step(*key);
    else if (!path)
      path = find(text, key);
    if (!path)
      return {ErrorCode::decode,
              key ? "a member \"" + *key + "\" is missing" : "it does not fit its type: " + text,
              {{"reason", what_}}};
    const auto shown = path->empty() ? std::string("the document") : *path;
    return {ErrorCode::decode,
            key ? shown + " is missing" : shown + ": " + plain(text),
            {{"path", *path}, {"reason", what_}}};
  }

 private:
  static constexpr std::size_t kMostTries = 2'000;
  static constexpr unsigned kDeepest = 64;
  static constexpr std::string_view kButIs = "but is ";
  static constexpr std::string_view kCannotUse = "cannot use at() with ";

  // The message without its "[json.exception.type_error.302] ".
  [[nodiscard]] std::string said() const {
    const auto end = what_.starts_with("[json.exception.") ? what_.find("] ") : std::string::npos;
    return end == std::string::npos ? what_ : what_.substr(end + 2);
  }

  static std::optional<std::string> missing_key(std::string_view text) {
    constexpr std::string_view kBefore = "key '";
    constexpr std::string_view kAfter = "' not found";
    const auto at = text.find(kBefore);
    if (at == std::string_view::npos || !text.ends_with(kAfter)) return std::nullopt;
    const auto first = at + kBefore.size();
    return std::string(text.substr(first, text.size() - kAfter.size() - first));
  }

  static std::string plain(const std::string& text) {
    if (!text.starts_with(kCannotUse)) return text;
    return "type must be object or array, but is " + text.substr(kCannotUse.size());
  }

  // With JSON_DIAGNOSTICS the library tells the path itself: "(/thumbs/3) key 'width' not found".
  static std::optional<std::string> take_path(std::string& text) {
    const auto end = text.starts_with("(/") ? text.find(") ") : std::string::npos;
    if (end == std::string::npos) return std::nullopt;
    auto path = text.substr(1, end - 1);
    text.erase(0, end + 2);
    return path;
  }

  std::optional<std::string> find(const std::string& text, const std::optional<std::string>& key) {
    if (key) return find_missing(*key);
    for (const auto before : {kButIs, kCannotUse})
      if (const auto at = text.find(before); at != std::string::npos)
        return find_kind(text.substr(at + before.size()));
    return std::nullopt;
  }

  // The first value of that kind whose replacement is what the message then complains of.
  std::optional<std::string> find_kind(const std::string& kind) {
    return walk(document_, "", 0, [&](nlohmann::json& value, const std::string& path) {
      if (kind != value.type_name()) return std::optional<std::string>();
      for (const auto& other : others()) {
        if (kind == other.type_name()) continue;
        auto wanted = what_;
        wanted.replace(wanted.rfind(kind), kind.size(), other.type_name());
        auto kept = std::exchange(value, other);
        const bool is_it = message() == wanted;
        value = std::move(kept);
        if (is_it) return std::optional(path);
      }
      return std::optional<std::string>();
    });
  }

  // The object that is not refused for that member any more when it has it, and does not mind
  // having others (which a map of things would).
  std::optional<std::string> find_missing(const std::string& key) {
    std::optional<std::string> only;
    std::size_t candidates = 0;
    auto found = walk(document_, "", 0, [&](nlohmann::json& value, const std::string& path) {
      if (!value.is_object() || value.contains(key)) return std::optional<std::string>();
      only = path + json_step(key);
      ++candidates;
      for (const auto& member : others())
        if (changes(value, key, member) && !changes(value, key + "'s other", member))
          return std::optional(path + json_step(key));
      return std::optional<std::string>();
    });
    if (!found && candidates == 1 && tries_ < kMostTries) return only;
    return found;
  }

  bool changes(nlohmann::json& object, const std::string& key, const nlohmann::json& member) {
    object[key] = member;
    const bool changed = message() != what_;
    object.erase(key);
    return changed;
  }

  std::string message() {
    ++tries_;
    return convert_(document_);
  }

  template <class Look>
  std::optional<std::string> walk(nlohmann::json& value, const std::string& path, unsigned depth,
                                  const Look& look) {
    if (tries_ >= kMostTries) return std::nullopt;
    if (auto found = look(value, path)) return found;
    if (depth == kDeepest) return std::nullopt;
    if (value.is_object()) {
      for (auto it = value.begin(); it != value.end(); ++it)
        if (auto found = walk(it.value(), path + json_step(it.key()), depth + 1, look))
          return found;
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i)
        if (auto found = walk(value[i], path + "/" + std::to_string(i), depth + 1, look))
          return found;
    }
    return std::nullopt;
  }

  static const std::array<nlohmann::json, 6>& others() {
    static const std::array<nlohmann::json, 6> kinds{
        nullptr, true, 0, "", nlohmann::json::array(), nlohmann::json::object()};
    return kinds;
  }

  nlohmann::json& document_;
  std::string what_;
  Convert convert_;
  std::size_t tries_ = 0;
};

}  // namespace echomq::inline v2::detail

// SPDX-License-Identifier: MIT
// A script and a call of it. The generated header (echomq_scripts.h) has one struct for each script
// with the names of its keys and arguments, so that a caller that forgets one does not compile;
// ScriptCall writes them straight into RESP bytes and counts, so that the call's shape is what the
// header declares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/number.h"
#include "wire/command.h"

namespace echomq::inline v2 {

// An argument: text, or a number that is formatted when it is written.
class Arg {
 public:
  Arg() = default;
  Arg(std::string_view text) : text_(text) {}    // NOLINT: implicit
  Arg(const std::string& text) : text_(text) {}  // NOLINT: implicit
  Arg(const char* text) : text_(text) {}         // NOLINT: implicit
  template <class N>
  requires(std::is_integral_v<N> && !std::is_same_v<N, bool>) Arg(N number)
      : number_(static_cast<std::int64_t>(number)), is_number_(true) {}  // NOLINT: implicit
  Arg(bool flag) : number_(flag ? 1 : 0), is_number_(true) {}            // NOLINT: implicit

  void append_to(std::string& out) const {
    if (is_number_)
      wire::append_bulk(out, number_);
    else
      wire::append_bulk(out, text_);
  }

 private:
  std::string_view text_;
  std::int64_t number_ = 0;
  bool is_number_ = false;
};

// One script of lua/, as the build put it together.
struct Script {
  std::string_view name;    // "job/finish"
  std::string_view sha1;    // of source, 40 hex digits
  std::string_view source;  // what EVAL sends
  unsigned keys = 0;        // fixed keys
  unsigned args = 0;        // fixed arguments
  unsigned item_keys = 0;   // further ones for each item
  unsigned more_keys = 0;   // and for an item that declares its sub-keys
  unsigned item_args = 0;
};

// The bytes of one call, built up item by item; the keys stay apart from the arguments until the
// end.
class ScriptCall {
 public:
  // The fixed keys by their names, `{.meta = ...}`; or all keys of a queue, or anything else that
  // has a member of the name of each.
  template <class Of, class Keys = typename Of::Keys>
  static ScriptCall of(const Keys& keys, const typename Of::Args& args) {
    ScriptCall call(Of::script);
    if constexpr (std::is_same_v<Keys, typename Of::Keys>)
      call.put_keys(keys);
    else
      call.put_keys(Of::Keys::of(keys));
    call.put_args(args);
    return call;
  }

  template <class Keys>
  void put_keys(const Keys& keys) {
    keys.each([this](std::string_view key) {
      wire::append_bulk(keys_, key);
      ++key_count_;
    });
  }

  template <class Args>
  void put_args(const Args& args) {
    args.each([this](const Arg& arg) {
      arg.append_to(args_);
      ++arg_count_;
    });
  }

  [[nodiscard]] const Script& script() const noexcept { return *script_; }
  // The keys by themselves, for whoever checks them.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::size_t bytes() const noexcept { return keys_.size() + args_.size(); }

  // The whole command. by_source: EVAL with the text, after the server answered NOSCRIPT.
  [[nodiscard]] std::string encode(bool by_source) const {
    std::string out;
    const auto program = by_source ? script_->source : script_->sha1;
    out.reserve(64 + program.size() + keys_.size() + args_.size());
    wire::append_header(out, 3U + key_count_ + arg_count_);
    wire::append_bulk(out, by_source ? std::string_view("EVAL") : std::string_view("EVALSHA"));
    wire::append_bulk(out, program);
    wire::append_bulk(out, static_cast<std::int64_t>(key_count_));
    out += keys_;
    out += args_;
    return out;
  }

 private:
  explicit ScriptCall(const Script& script) : script_(&script) {}

  const Script* script_;
  std::string keys_;
  std::string args_;
  std::uint32_t key_count_ = 0;
  std::uint32_t arg_count_ = 0;
};

inline std::vector<std::string> ScriptCall::keys() const {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < keys_.size();) {  // "$<bytes>\r\n<bytes>\r\n"
    const auto line = keys_.find('\r', at);
    const auto size = to_number<std::size_t>(std::string_view(keys_).substr(at + 1, line - at - 1));
    all.push_back(keys_.substr(line + 2, size));
    at = line + 2 + size + 2;
  }
  return all;
}

}  // namespace echomq::inline v2

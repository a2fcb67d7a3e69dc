// SPDX-License-Identifier: MIT
// Typed jobs by JSON: with this header a Queue<T> takes every T that nlohmann::json can convert
// (NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, to_json/from_json, the standard containers, numbers).
//
//   struct Thumb { std::string path; int width; };
//   NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Thumb, path, width)
//   echomq::Queue<Thumb> thumbs{mq, "thumbs"};
//
// decode answers ErrorCode::decode for bytes that are not JSON (the field "position" is the byte at
// which they stop being it) and for JSON that does not fit T. Then the field "path" is a JSON
// pointer to the value that is wrong or missing, "/parts/3/width", and the message begins with it.
// Which value that is is found by trying: from_json of a T that was refused is run again on changed
// documents, up to some thousand times, so it should do nothing but convert. Where the type throws
// an error of its own making, its text is all there is.
//
// Built with -fno-exceptions a missing member aborts, because the JSON library reports it by
// throwing: define from_json with value() and defaults there. Text that is not UTF-8 is replaced
// (U+FFFD), not refused, by encode.
//
// A type that changes over time has a version, and tells how older data becomes newer:
//
//   template <> struct echomq::Schema<Thumb> {
//     static constexpr unsigned version = 2;
//     // From version `from` to the next one.
//     static echomq::Result<nlohmann::json> upcast(unsigned from, nlohmann::json old) {
//       if (from == 1) old["height"] = old["width"];  // 1 had squares only
//       return old;
//     }
//   };
//
// encode writes the version as a member "$v" of the JSON object ({"$v":2,"path":...}); what is no
// object is put beside it ({"$v":2,"$data":[...]}). decode takes it out, and calls upcast for each
// version up to the present one: upcast and from_json never see it. Data without "$v" is of version
// 1, so a type may get its Schema when it first changes. Data of a newer version is
// ErrorCode::decode whose fields "found" and "expected" are the two versions: a worker of the last
// release meets it during a deploy, see WorkerOptions::retry_undecodable. A type without a Schema
// writes no version and ignores one that is there.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "echomq/codec.h"
#include "echomq/json_fault.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// Specialise it for a type of yours that has versions; see above.
//   version  that of the data which encode writes, from 1 on
//   upcast   needed from 2 on: called for `from` 1 .. version-1, in turn; an error refuses the data
template <class T>
struct Schema {};

template <class T>
concept Versioned = requires {
  { Schema<T>::version } -> std::convertible_to<unsigned>;
};

template <class T>
concept JsonConvertible =
    !std::is_same_v<T, std::string> && requires(nlohmann::json json, const T& in) {
  json = in;
  json.template get<T>();
};

namespace detail {

inline constexpr const char* kVersionMember = "$v";
inline constexpr const char* kDataMember = "$data";

inline void put_version(nlohmann::json& json, unsigned version) {
  if (!json.is_object()) {
    auto wrapped = nlohmann::json::object();
    wrapped[kDataMember] = std::move(json);
    json = std::move(wrapped);
  }
  json[kVersionMember] = version;
}

// Takes the version out, and the data out of what was put around it.
inline Result<unsigned> take_version(nlohmann::json& json, unsigned known) {
  if (!json.is_object() || !json.contains(kVersionMember)) return 1U;
  const auto found = json[kVersionMember];
  if (!found.is_number_unsigned() || found.get<std::uint64_t>() == 0)
    return Error{ErrorCode::decode,
                 "/$v: the version of the schema must be a number from 1 on",
                 {{"path", "/$v"}}};
  const auto version = found.get<std::uint64_t>();
  if (version > known)
    return Error{ErrorCode::decode,
                 "the data has version " + std::to_string(version) +
                     " of its schema, this program knows it up to version " + std::to_string(known),
                 {{"found", std::to_string(version)}, {"expected", std::to_string(known)}}};
  json.erase(kVersionMember);
  if (json.size() == 1 && json.contains(kDataMember)) {
    auto inner = std::move(json[kDataMember]);
    json = std::move(inner);
  }
  return static_cast<unsigned>(version);
}

template <Versioned T>
Result<void> upcast(nlohmann::json& json) {
  constexpr unsigned kKnown = Schema<T>::version;
  static_assert(kKnown >= 1, "versions of a Schema count from 1");
  const auto found = take_version(json, kKnown);
  if (!found) return found.error();
  if constexpr (kKnown > 1) {
    for (unsigned from = *found; from < kKnown; ++from) {
      Result<nlohmann::json> next = Schema<T>::upcast(from, std::move(json));
      if (!next)
        return Error{ErrorCode::decode,
                     "from version " + std::to_string(from) + " of its schema to " +
                         std::to_string(from + 1) + ": " + next.error().detail,
                     next.error().fields};
      json = *std::move(next);
    }
  }
  return {};
}

#if defined(__cpp_exceptions)
// What `run` answers, or what an exception that it throws says to `told`.
template <class Run, class Told>
auto caught_json(const Run& run, const Told& told) -> decltype(run()) {
  try {
    return run();
  } catch (const std::exception& problem) {
    return told(std::string(problem.what()));
  }
}
#else
template <class Run, class Told>
auto caught_json(const Run& run, const Told&) -> decltype(run()) {
  return run();
}
#endif

}  // namespace detail

template <JsonConvertible T>
struct Codec<T> {
  static std::string encode(const T& value) {
    nlohmann::json json = value;
    if constexpr (Versioned<T>) detail::put_version(json, Schema<T>::version);
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static Result<T> decode(std::string_view bytes) {
    auto json = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) return detail::not_json(bytes);
    if constexpr (Versioned<T>) {
      auto now = detail::caught_json(
          [&] { return detail::upcast<T>(json); },
          [](const std::string& what) -> Result<void> {
            return Error{ErrorCode::decode, "upcast threw: " + what, {{"reason", what}}};
          });
      if (!now) return now.error();
    }
    return detail::caught_json([&]() -> Result<T> { return json.template get<T>(); },
                               [&](const std::string& what) -> Result<T> {
                                 return detail::JsonFault(json, what, refusal).error();
                               });
  }

 private:
  static std::string refusal(const nlohmann::json& json) {
    return detail::caught_json(
        [&] {
          (void)json.template get<T>();
          return std::string();
        },
        [](const std::string& what) { return what; });
  }
};

}  // namespace echomq::inline v2

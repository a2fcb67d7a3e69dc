// SPDX-License-Identifier: MIT
// Typed jobs by JSON: with this header a Queue<T> takes every T that nlohmann::json can convert
// (NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, to_json/from_json, the standard containers, numbers).
//
// decode answers ErrorCode::encoding for bytes that are not JSON or lack a member of T. Built with
// -fno-exceptions a missing member aborts, because the library reports it by throwing: define
// from_json with value() and defaults there. Text that is not UTF-8 is replaced (U+FFFD), not
// refused, by encode.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "echomq/codec.h"

namespace echomq::inline v2 {

template <class T>
concept JsonConvertible =
    !std::is_same_v<T, std::string> && requires(nlohmann::json json, const T& in) {
  json = in;
  json.template get<T>();
};

template <JsonConvertible T>
struct Codec<T> {
  static std::string encode(const T& value) {
    const nlohmann::json json = value;
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static Result<T> decode(std::string_view bytes) {
    const auto json = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded())
      return Error{ErrorCode::encoding,
                   "the job's data is not JSON (" + std::to_string(bytes.size()) + " bytes)",
                   {{"expected", "JSON"}}};
#if defined(__cpp_exceptions)
    try {
      return json.template get<T>();
    } catch (const std::exception& problem) {
      return Error{ErrorCode::encoding,
                   std::string("the job's JSON does not fit its type: ") + problem.what(),
                   {
                     { "reason",
                       problem.what() }
                   }};
    }
#else
    return json.template get<T>();
#endif
  }
};

}  // namespace echomq::inline v2

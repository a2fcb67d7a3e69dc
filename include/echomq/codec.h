// SPDX-License-Identifier: MIT
// How a value becomes a job's bytes and comes back. A job's data is bytes: text, JSON, protobuf,
// CBOR.
//
// Specialise Codec for a type of yours, or include echomq/json.h, which does it for every type that
// nlohmann::json can convert:
//
//   template <> struct echomq::Codec<Thumb> {
//     static std::string encode(const Thumb& thumb);
//     static echomq::Result<Thumb> decode(std::string_view bytes);    // ErrorCode::decode
//   };
//
// A job whose data its type cannot read fails at once, with a reason that begins with "decode: "
// and goes on with the error's text, and is not tried again: see WorkerOptions::retry_undecodable.
//
// Thread-safety: encode and decode are called from any thread, also at the same time.
#pragma once

#include <string>
#include <string_view>

#include "echomq/result.h"

namespace echomq::inline v2 {

template <class T>
struct Codec;  // a missing specialisation is a compile error that names the type

// Bytes go through as they are.
template <>
struct Codec<std::string> {
  static std::string encode(std::string bytes) { return bytes; }
  static Result<std::string> decode(std::string_view bytes) { return std::string(bytes); }
};

}  // namespace echomq::inline v2

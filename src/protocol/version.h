// SPDX-License-Identifier: MIT
// The version of the wire. It stands in meta.version of every queue, in the sentinels and in
// {emq}:version, and every script compares it before it does anything else. Fixed for the whole 2.x
// line: what may change between releases is the revision of the script set.
#pragma once

#include <string_view>

namespace echomq::inline v2 {

inline constexpr std::string_view kWireVersion = "echomq:2.0.0";

}  // namespace echomq::inline v2

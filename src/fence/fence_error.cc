// SPDX-License-Identifier: MIT
#include "echomq/fence.h"

namespace echomq::inline v2 {

std::optional<FenceError> fence_error(const Error& error) {
  if (error.code != ErrorCode::fence) return std::nullopt;
  const auto part = [&error](std::string_view key) {
    const auto* value = error.field(key);
    return value ? *value : std::string();
  };
  return FenceError{part("queue"), part("found"), part("expected"), part("probe")};
}

}  // namespace echomq::inline v2

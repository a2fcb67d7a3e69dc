// SPDX-License-Identifier: MIT
#include "exit_code.h"

namespace emq {

Exit exit_code(echomq::ErrorCode code) noexcept {
  using echomq::ErrorCode;
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_url:
    case ErrorCode::invalid_name:
    case ErrorCode::too_large:
    case ErrorCode::encoding:
    case ErrorCode::unsupported: return Exit::bad_input;
    case ErrorCode::unavailable:
    case ErrorCode::timeout:
    case ErrorCode::connection_lost:
    case ErrorCode::loading: return Exit::unreachable;
    case ErrorCode::fence: return Exit::fenced;
    case ErrorCode::not_found: return Exit::not_found;
    case ErrorCode::duplicate: return Exit::duplicate;
    default: return Exit::failed;
  }
}

}  // namespace emq

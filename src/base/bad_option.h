// SPDX-License-Identifier: MIT
// The refusal of an option that is out of its range, as all of them look.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "echomq/result.h"

namespace echomq::inline v2 {

// ErrorCode::invalid_argument with the fields option, value and expected.
inline Error bad_option(std::string_view option, std::string_view value,
                        std::string_view expected) {
  std::string detail(option);
  detail += " is ";
  detail += value;
  detail += "; expected ";
  detail += expected;
  return {ErrorCode::invalid_argument,
          std::move(detail),
          {{"option", std::string(option)},
           {"value", std::string(value)},
           {"expected", std::string(expected)}}};
}

}  // namespace echomq::inline v2

// SPDX-License-Identifier: MIT
// The smallest program that needs both the installed headers and the installed library.
#include <cstdio>
#include <string>

#include "echomq/result.h"
#include "echomq/version.h"

int main() {
  const std::string code{echomq::name(echomq::ErrorCode::fence)};
  std::printf("%s %s\n", std::string(echomq::kVersion).c_str(), code.c_str());
}

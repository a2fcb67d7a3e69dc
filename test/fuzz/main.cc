// SPDX-License-Identifier: MIT
// The entry that libFuzzer calls, for one target; each program is compiled with its own
// ECHOMQ_FUZZ_TARGET. Nothing catches what the target throws: the program must die there, with the
// stack of the broken property, for libFuzzer to keep the input.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  echomq::fuzz::ECHOMQ_FUZZ_TARGET(
      std::string_view(reinterpret_cast<const char*>(data), data == nullptr ? 0 : size));
  return 0;
}

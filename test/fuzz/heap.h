// SPDX-License-Identifier: MIT
// How much memory the program holds at the moment, to bound what an input can make a parser take.
#pragma once

#include <malloc.h>

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define ECHOMQ_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ECHOMQ_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(ECHOMQ_ADDRESS_SANITIZER)
// Of <sanitizer/allocator_interface.h>, which clang keeps in a package of its own.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace echomq::fuzz {

inline std::size_t heap_bytes() {
#if defined(ECHOMQ_ADDRESS_SANITIZER)
  return __sanitizer_get_current_allocated_bytes();
#else
  const auto all = mallinfo2();  // zeros where another allocator stands in, under TSan for example
  return all.uordblks + all.hblkhd;
#endif
}

}  // namespace echomq::fuzz

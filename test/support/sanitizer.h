// SPDX-License-Identifier: MIT
// Whether the tests are built with a sanitizer, which makes all of it several times as slow: bounds
// of time are those of the plain build.
#pragma once

namespace echomq::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadSanitizer;
#endif

}  // namespace echomq::test

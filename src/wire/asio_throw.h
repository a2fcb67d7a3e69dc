// SPDX-License-Identifier: MIT
// Built without exceptions, Asio asks its user for the function that reports what it would have
// thrown. The calls used here take an error_code; what is left is a system that gives no epoll or
// no timer, and that no program can go on without. Include before any other header of Asio.
#pragma once

#if defined(ASIO_NO_EXCEPTIONS)
#include <asio/detail/throw_exception.hpp>
#include <cstdio>
#include <cstdlib>

namespace asio::detail {
template <typename Exception>
void throw_exception(const Exception& problem) {
  std::fprintf(stderr, "echomq: %s\n", problem.what());
  std::abort();
}
}  // namespace asio::detail
#endif

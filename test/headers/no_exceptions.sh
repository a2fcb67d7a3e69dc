#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every source of the library compiles with -fno-exceptions -fno-rtti (checked without generating code,
# a dozen sources at a time), but for the one that catches what date-tz throws.
# Usage: no_exceptions.sh SOURCE_DIR BUILD_DIR.
set -euo pipefail
source=$1 build=$2

check() { # check SOURCE...
  printf '#include "%s"\n' "$@" |
    g++ -std=c++20 -fsyntax-only -fno-exceptions -fno-rtti -Wall -Wextra -Werror \
      -DASIO_STANDALONE -DASIO_NO_DEPRECATED -DASIO_NO_EXCEPTIONS -DASIO_NO_TYPEID \
      -Dasio=echomq_asio -I"$source/include" -I"$build/include" -I"$source/src" \
      -I"$build/generated" -x c++ - || {
    echo "^ one of these without exceptions and RTTI: $*" >&2
    return 1
  }
}
export -f check
export source build
# shellcheck disable=SC2016  # the inner shell expands it
find "$source/src" -name '*.cc' ! -path '*/schedule/zone.cc' -print0 | sort -z |
  xargs -0 -P "$(nproc)" -n 12 bash -c 'check "$@"' check

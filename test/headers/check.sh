#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every public header compiles alone (and twice, and without warnings) in two language modes, once with
# and once without exceptions and RTTI: g++ leaves them out in the newer mode and clang++ in the older,
# so that each pair is seen by one of them. Usage: check.sh COMPILER SOURCE_DIR BUILD_DIR.
set -euo pipefail
compiler=$1 source=$2 build=$3
command -v "$compiler" >/dev/null || {
  echo "$compiler is not installed; ./run test installs it" >&2
  exit 1
}

# clang 14 knows C++23 by the name it had while it was being written.
newest=c++23
"$compiler" -std=c++23 -fsyntax-only -x c++ /dev/null 2>/dev/null || newest=c++2b

check() { # check HEADER FLAG...
  local header=$1
  shift
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
    "$compiler" "$@" -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -fsyntax-only \
      -I"$source/include" -I"$build/include" -x c++ - || {
    echo "^ $header with $compiler $*" >&2
    return 1
  }
}
export -f check
export compiler source build

headers=$(cd "$source/include" && find echomq -name '*.h')
headers+=' echomq/version.h'
for header in $headers; do
  if [[ $compiler == g++ ]]; then
    echo "$header -std=c++20"
    echo "$header -std=$newest -fno-exceptions -fno-rtti"
  else
    echo "$header -std=c++20 -fno-exceptions -fno-rtti"
    echo "$header -std=$newest"
  fi
done | xargs -P "$(nproc)" -L 1 bash -c 'check "$@"' check

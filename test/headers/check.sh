#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every public header compiles alone (and twice, and without warnings), and all of them together in each
# language mode, with and without exceptions and RTTI. Alone they are seen in the older mode, by g++ with
# exceptions and by clang++ without: what a header forgot to include does not depend on the mode.
# Usage: check.sh COMPILER SOURCE_DIR BUILD_DIR.
set -euo pipefail
compiler=$1 source=$2 build=$3
command -v "$compiler" >/dev/null || {
  echo "$compiler is not installed; ./run test installs it" >&2
  exit 1
}

# clang 14 knows C++23 by the name it had while it was being written.
newest=c++23
"$compiler" -std=c++23 -fsyntax-only -x c++ /dev/null 2>/dev/null || newest=c++2b

check() { # check "FLAG..." HEADER...
  local flags=$1
  shift
  # shellcheck disable=SC2086  # flags are words
  printf '#include "%s"\n' "$@" "$@" |
    "$compiler" $flags -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -fsyntax-only \
      -I"$source/include" -I"$build/include" -x c++ - || {
    echo "^ $* with $compiler $flags" >&2
    return 1
  }
}
export -f check
export compiler source build

mapfile -t headers < <(cd "$source/include" && find echomq -name '*.h')
headers+=(echomq/version.h)
bare="-fno-exceptions -fno-rtti"
alone=-std=c++20
[[ $compiler == g++ ]] || alone+=" $bare"
{
  for flags in "-std=c++20" "-std=c++20 $bare" "-std=$newest" "-std=$newest $bare"; do
    echo "'$flags' ${headers[*]}"
  done
  printf "'$alone' %s\n" "${headers[@]}"
} | xargs -P "$(nproc)" -L 1 bash -c 'check "$@"' check

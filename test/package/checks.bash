# SPDX-License-Identifier: MIT
# Shared by the tests of this folder (sourced): a scratch folder outside the tree, and the three ways
# in which somebody else's project uses EchoMQ.

set -euo pipefail
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

# expect_version PROGRAM SOURCE: it runs, with the library it was built for.
expect_version() {
  local want got
  want=$(sed -n 's/^project(echomq VERSION \([0-9.]*\).*/\1/p' "$2/CMakeLists.txt")
  got=$("$1") || fail "$1 does not run"
  [[ $got == "$want fence" ]] || fail "$1 prints '$got', not '$want fence'"
}

# expect_hello PROGRAM: the ten-line program starts its own server in a fresh folder and works its job.
expect_hello() {
  local got
  got=$(env -u EMQ_URL XDG_STATE_HOME="$scratch/state" timeout 60 "$1") || fail "$1 fails: $got"
  [[ $got == *"cat.png, 200 pixels wide"* ]] || fail "$1 prints '$got'"
}

# build_by_cmake SOURCE ARGUMENT...: the consumer's project, with these arguments to cmake.
build_by_cmake() {
  local source=$1
  shift
  mkdir "$scratch/project"
  cp -r "$consumer/." "$scratch/project"
  cmake -G Ninja -S "$scratch/project" -B "$scratch/project-build" \
    -DEXAMPLE="$source/example/hello.cc" "$@"
  cmake --build "$scratch/project-build"
  expect_version "$scratch/project-build/version" "$source"
  expect_hello "$scratch/project-build/hello"
}

# build_by_pkg_config SOURCE PREFIX: plain compiler calls, warnings as errors, headers not SYSTEM.
build_by_pkg_config() {
  local source=$1 prefix=$2 pc flags
  pc=$(find "$prefix" -name echomq.pc)
  [[ -n $pc ]] || fail "no echomq.pc below $prefix"
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs echomq)
  local library_dir=${pc%/pkgconfig/echomq.pc} program
  for program in "$consumer/main.cc" "$source/example/hello.cc"; do
    # shellcheck disable=SC2086  # flags are words
    g++ -std=c++20 -Wall -Wextra -Wconversion -Werror "$program" \
      -o "$scratch/by-pkg-config-$(basename "$program" .cc)" $flags -Wl,-rpath,"$library_dir"
  done
  expect_version "$scratch/by-pkg-config-main" "$source"
  expect_hello "$scratch/by-pkg-config-hello"
}

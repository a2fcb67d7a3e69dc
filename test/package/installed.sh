#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `cmake --install` into a prefix of its own; from there a project outside the tree builds the ten-line
# program, by find_package or by pkg-config. Usage: installed.sh find_package|pkg_config SOURCE BUILD.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/checks.bash"
way=$1 source=$2 build=$3

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # nothing in it may know where it was
prefix=$scratch/prefix
case $way in
  find_package)
    build_by_cmake "$source" -DCMAKE_PREFIX_PATH="$prefix"
    [[ ! -e $build/emq ]] || "$prefix/bin/emq" --version || fail "the installed emq does not run"
    ;;
  pkg_config) build_by_pkg_config "$source" "$prefix" ;;
  *) fail "unknown way: $way" ;;
esac

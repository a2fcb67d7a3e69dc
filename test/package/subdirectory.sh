#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A project that has EchoMQ as a folder, and wants it static; then the same static library installed
# and found by both ways. One build of the library serves all three, without optimisation and many files
# at a time, for time.
# Usage: subdirectory.sh SOURCE.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/checks.bash"
source=$1

build_by_cmake "$source" -DECHOMQ_TREE="$source" -DECHOMQ_INSTALL=ON -DBUILD_SHARED_LIBS=OFF \
  -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12
[[ -n $(find "$scratch/project-build" -name libechomq.a) ]] || fail "BUILD_SHARED_LIBS=OFF was ignored"
grep -q 'BUILD_TESTS:BOOL=OFF' "$scratch/project-build/CMakeCache.txt" ||
  fail "a project that includes EchoMQ would build its tests"

cmake --install "$scratch/project-build" --prefix "$scratch/prefix" >/dev/null
build_by_pkg_config "$source" "$scratch/prefix"
rm -rf "$scratch/project" "$scratch/project-build"
build_by_cmake "$source" -DCMAKE_PREFIX_PATH="$scratch/prefix"

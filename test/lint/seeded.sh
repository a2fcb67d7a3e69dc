#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checks of tool/lint can fail: each is run on a small tree with one fault seeded in it, and must
# name that file; and on the same tree without the fault, where it must pass.
set -euo pipefail
lint=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tool/lint" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0
spdx='// SPDX-License-Identifier: MIT'

fresh() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{include/echomq,app/emq,example} "$tree"/src/{base,wire,job,queue,worker,schedule,group,testing}
  printf '%s\n#include <string>\n#include "echomq/result.h"\n' "$spdx" >"$tree/include/echomq/job.h"
  printf '%s\n#include "base/log.h"\n' "$spdx" >"$tree/src/wire/connection.cc"
  printf '%s\n#include "job/job.h"\n#include "echomq/queue.h"\n' "$spdx" >"$tree/src/worker/loop.cc"
  printf '%s\n#include "worker/loop.h"\n' "$spdx" >"$tree/src/testing/drain.cc"
  printf '%s\n#include "schedule/firer.h"\n' "$spdx" >"$tree/src/worker/intake.cc"
  printf '%s\n#include "echomq/worker.h"\n#include <unistd.h>\n' "$spdx" >"$tree/app/emq/main.cc"
}

# seed CHECK FILE LINE: with LINE in FILE the check must fail and name FILE.
seed() {
  local check=$1 file=$2 line=$3 output
  fresh
  if ! output=$("$lint/$check" "$tree" 2>&1); then
    echo "$check fails on the sound tree: $output"
    failures=$((failures + 1))
  fi
  printf '%s\n%s\n' "$spdx" "$line" >"$tree/$file"
  if output=$("$lint/$check" "$tree" 2>&1) || [[ $output != *"$file:"* ]]; then
    echo "$check does not catch '$line' in $file: $output"
    failures=$((failures + 1))
  fi
}

seed includes.sh src/worker/bad.cc '#include "group/lane.h"'
seed includes.sh src/schedule/bad.cc '#include "worker/loop.h"'
seed includes.sh src/queue/bad.cc '#include "echomq/schedule.h"'
seed includes.sh src/job/bad.cc '#include "echomq/worker.h"'
seed includes.sh src/worker/bad.cc '#include "echomq/testing.h"'
seed includes.sh src/wire/bad.cc '#include "job/job.h"'
seed includes.sh src/base/bad.h '#  include "echomq/queue.h"'
seed includes.sh src/job/bad.cc '#include "tool/contract/lexer.h"'
seed includes.sh include/echomq/bad.h '#include <nlohmann/json.hpp>'
seed includes.sh include/echomq/bad.h '#include <unistd.h>'
seed includes.sh include/echomq/bad.h '#include "wire/resp.h"'
seed includes.sh include/echomq/bad.h '#include HEADER'
seed includes.sh app/emq/bad.cc '#include "wire/resp.h"'
seed leftovers.sh src/base/bad.cc "// TO""DO: finish"
seed leftovers.sh src/base/bad.cc "<<<""<<<< ours"

fresh
echo 'int x;' >"$tree/src/base/bad.cc"
if output=$("$lint/leftovers.sh" "$tree" 2>&1) || [[ $output != *src/base/bad.cc* ]]; then
  echo "leftovers.sh does not catch a file without its licence line"
  failures=$((failures + 1))
fi

# packages.sh reads the real tree (where lint_packages has it pass), so that is what the faults go into.
# seed_packages WORD COMMAND...: after the command, run in a copy, it must fail and name WORD.
seed_packages() {
  local word=$1 output
  shift
  rm -rf "${tree:?}"/* && (cd "$lint/../.." && tar c --exclude='./build*' --exclude=./.git .) | tar x -C "$tree"
  (cd "$tree" && "$@")
  if output=$("$lint/packages.sh" "$tree" 2>&1) || [[ $output != *"$word"* ]]; then
    echo "packages.sh does not catch $word: $output"
    failures=$((failures + 1))
  fi
}
# shellcheck disable=SC2016  # $a is the command of sed that appends
{
  seed_packages "find_package(Nope)" sed -i '$a find_package(Nope REQUIRED)' CMakeLists.txt
  seed_packages "<no/such.hpp>" sed -i '$a #include <no/such.hpp>' src/base/error.cc
  seed_packages "libgtest-dev" sed -i '$a #include <gtest/gtest.h>' src/base/error.cc
}
seed_packages "zlib1g-dev" sed -i '/^zlib1g-dev /d' run
seed_packages "libclang-rt-dev" sed -i 's/-fsanitize=fuzzer)/-fsanitize=leak)/' test/fuzz/CMakeLists.txt
unused=fig"let" # in two pieces, because a word in this file is a use
seed_packages $unused sed -i "s/^zlib1g-dev .*/&\n$unused cmd:$unused - build/" run
exit $((failures > 0))

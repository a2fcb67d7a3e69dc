#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The table of packages in `run` and the tree agree: every package that owns a header we include, a
# CMake package we find or a command we start has a row, in a group that the place is built with; and
# every row is used. Usage: packages.sh TREE. Exits 1 naming what is missing.
set -euo pipefail
cd "$1"
bad=0
complain() {
  echo "$*" >&2
  bad=1
}
table=$(./run packages)

# row COLUMN VALUE GROUP...: is there a row whose column has the value, in one of the groups?
row() {
  local column=$1 value=$2
  shift 2
  awk -v column="$column" -v value="$value" -v groups=" $* " \
    '$column == value && index(groups, " " $4 " ") { found = 1 } END { exit !found }' <<<"$table"
}

includes_of() { # includes_of DIR...: the headers that are neither ours nor the language's
  local dir dirs=()
  for dir in "$@"; do [[ -d $dir ]] && dirs+=("$dir"); done
  ((${#dirs[@]})) || return 0
  grep -rhoE --exclude-dir=node_modules --include='*.h' --include='*.cc' '^#[[:space:]]*include <[^>]+[./][^>]*>' "${dirs[@]}" |
    sed 's/.*<\(.*\)>/\1/' | sort -u
}

# Headers. dpkg knows which package a header came from; the C library's come with build-essential.
if command -v dpkg >/dev/null; then
  check_headers() { # check_headers "GROUPS" DIR...
    local groups=$1 header path owner headers paths=()
    shift
    mapfile -t headers < <(includes_of "$@")
    for header in "${headers[@]}"; do
      path=$(compgen -G "/usr/include/$header" || compgen -G "/usr/include/*-linux-gnu/$header") ||
        complain "<$header> in $*: not found in /usr/include, so no package of the table brings it"
      paths+=(${path:+"$path"})
    done
    ((${#paths[@]})) || return 0
    while IFS=: read -r owner path; do
      path=${path##*: }
      case $owner in libc6-dev | linux-libc-dev | libstdc++-*-dev) continue ;; esac
      # shellcheck disable=SC2086  # groups is a list of words
      row 1 "$owner" $groups || complain "$path in $*: package '$owner' has no row for: $groups"
    done < <(dpkg -S "${paths[@]}" 2>/dev/null)
  }
  check_headers build include src app example tool
  check_headers "build test" test
fi

# find_package in CMake files. What is asked for QUIETly may be missing in a build, not in a test.
check_cmake() { # check_cmake "GROUPS" FILE...
  local groups=$1 name quiet
  shift
  while read -r name quiet; do
    # shellcheck disable=SC2086
    row 3 "$name" $groups ${quiet:+test} || complain "find_package($name) in $*: no row for: $groups"
  done < <(sed -nE 's/^ *find_package\(([A-Za-z0-9_]*)[^)]*( QUIET)[^)]*\).*/\1\2/p; t; s/^ *find_package\(([A-Za-z0-9_]*).*/\1/p' "$@" | sort -u)
}
check_cmake build CMakeLists.txt cmake/*.cmake
check_cmake "build test" test/CMakeLists.txt

# Each row's proof is used: its header included, its package found, or its command named by a script.
included=$(includes_of include src app example tool test)
entry=$(grep -vE '^[a-z0-9-]+ +cmd:' run)
while read -r package proof cmake _; do
  what=${proof#*:}
  if [[ $proof == header:* ]]; then
    grep -qF "${what%%[/.]*}" <<<"$included" && continue
    [[ $cmake != - ]] &&
      grep -rqE "(find_package\\(| )$cmake([ )]|$)" CMakeLists.txt cmake test/CMakeLists.txt && continue
    grep -rqF "$what" cmake && continue
  elif [[ $proof == runtime:* ]]; then
    grep -rqE --include='*.cmake' --include=CMakeLists.txt -- "-fsanitize=$what( |\)|$)" cmake test && continue
  else
    pattern=$(sed 's/[+.]/\\&/g; s/,/|/g' <<<"$what")
    grep -rqE "($pattern)" CMakePresets.json .clang-tidy cmake test tool src app && continue
    grep -qE "($pattern)" <<<"$entry" && continue
  fi
  complain "the row of $package ($proof) is not used by anything"
done <<<"$table"
exit $bad

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What must not be left behind in a finished tree: marks of unfinished work, merge conflicts, files
# without their licence line. Usage: leftovers.sh TREE. Prints file:line of each, exits 1 if any.
set -euo pipefail
cd "$1"
found=0

# The files that belong to the tree: git's list, or everything where there is no git.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -z
  else
    find . -path './build*' -prune -o -type f -print0
  fi | while IFS= read -r -d '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done
}

# The words are spelled with brackets so that this file does not find itself.
if files | xargs -0 -r grep -nHIE '\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b|^([<]{7}|[>]{7}) '; then
  echo "the marks above stand for work that is not done" >&2
  found=1
fi

while IFS= read -r -d '' file; do
  case $file in
    *.cc | *.h | *.sh | *.cmake | *CMakeLists.txt | run | .ci/run)
      if [[ $(head -n 2 "$file") != *'SPDX-License-Identifier: MIT'* ]]; then
        echo "$file:1: no SPDX licence line"
        found=1
      fi
      ;;
  esac
done < <(files)
exit $found

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tree's include rules: which folder may know which.
#
#   the floor (base wire protocol client)  knows no concept: it includes the floor and headers of no slice
#   a slice (any other folder of src/)     includes the floor, job, queue and itself, never a sibling;
#                                          but testing runs workers, and a worker fires schedules and
#                                          runs flows
#   the tools on top (migrate probe ops)   may look at everything below
#   a public header                        includes only <std> and echomq/; json.h and json_fault.h
#                                          nlohmann/json.hpp too
#   app/, example/                         use the public headers, as any user does
#
# Usage: includes.sh TREE. Prints each breach as file:line and exits 1 if there was one.
set -euo pipefail
cd "$1"

dirs=()
for dir in include src app example; do [[ -d $dir ]] && dirs+=("$dir"); done
areas=""
if [[ -d src ]]; then areas=$(find src -mindepth 1 -maxdepth 1 -type d -printf '%f '); fi

find "${dirs[@]}" \( -name '*.h' -o -name '*.cc' \) -print0 | sort -z |
  xargs -0 -r grep -nHE '^[[:space:]]*#[[:space:]]*include' |
  awk -v areas="$areas" '
    function breach(why) { printf "%s:%s: includes %s: %s\n", file, line, target, why; bad = 1 }
    function is_floor(area) { return area ~ /^(base|wire|protocol|client)$/ }
    # The concept that a header belongs to: its folder in src/, or the name of a public header.
    function concept(target,   name) {
      name = target
      if (sub(/^echomq\//, "", name)) sub(/\.h$/, "", name); else if (!sub(/\/.*/, "", name)) return ""
      return name in area_of ? name : ""
    }
    BEGIN { n = split(areas, list, " "); for (i = 1; i <= n; i++) area_of[list[i]] = 1 }
    {
      split($0, part, ":"); file = part[1]; line = part[2]
      if (!match($0, /[<"][^>"]+[>"]/)) { target = $0; breach("a computed include"); next }
      target = substr($0, RSTART + 1, RLENGTH - 2)
      quoted = substr($0, RSTART, 1) == "\""
      split(file, dir, "/")
      if (file ~ /^include\//) {
        if (target ~ /^echomq\/[a-z0-9_]+\.h$/ && quoted) next
        if (target ~ /^[a-z_]+$/ && !quoted) next
        if (file ~ /^include\/echomq\/json(_fault)?\.h$/ && target == "nlohmann/json.hpp") next
        breach("a public header includes only <std> and \"echomq/...\"")
      } else if (file ~ /^src\//) {
        if (target ~ /^(app|tool|test|example)\//) breach("the library includes nothing of the tree above it")
        to = concept(target)
        if (to == "" || to == dir[2] || is_floor(to)) next
        if (is_floor(dir[2])) breach("the floor knows no concept, and " to " is one")
        else if (dir[2] ~ /^(migrate|probe|ops)$/) next
        else if (dir[2] == "testing" && to == "worker") next
        else if (dir[2] == "worker" && (to == "schedule" || to == "flow")) next
        else if (to != "job" && to != "queue") breach(dir[2] " and " to " are siblings; slices meet in job and queue")
      } else if (quoted && target !~ /^echomq\// && concept(target) != "") {
        breach("programs and examples use the public headers")
      }
    }
    END { exit bad }'

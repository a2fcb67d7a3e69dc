#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# luacheck over the scripts, with the settings of .luacheckrc. The functions of lua/lib are joined to a
# script by its USES line, so to luacheck they are globals of the scripts, and unused in their own file:
# their names are collected here. Usage: lua.sh LUA_DIR.
set -euo pipefail
lua=$1
mapfile -t names < <(sed -n 's/^local function \([A-Za-z_0-9]*\).*/\1/p' "$lua"/lib/*.lua | sort -u)
luacheck --quiet --no-color --config "$(dirname "$0")/../../.luacheckrc" --read-globals "${names[@]}" -- "$lua"

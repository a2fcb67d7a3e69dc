-- SPDX-License-Identifier: MIT
-- The scripts run in the server's Lua 5.1, with these globals and no others of ours.
std = "lua51"
read_globals = { "redis", "KEYS", "ARGV" }
max_line_length = 110

-- A library file holds functions for the scripts; none is used where it is written (211).
files["**/lib/*.lua"] = { ignore = { "211" } }

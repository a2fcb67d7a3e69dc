-- job/sample: a script for the tests of the contract.
-- KEYS      meta wait events
-- ITEM KEYS job
-- ARGV      revision now count
-- ITEM ARGV id name
-- RETURNS   the statuses, one for each job
-- STATUS    ok gone
-- ERRORS    EMQFENCE
-- EMITS     touched
-- COST      O(batch)
-- USES      fence emit
local m = fence()
if m.err then return m end
local a = 7 // 2
local b = 7 & 2
local c = 7 | 2
local d = ~2
local e = 1 << 2 >> 1
local f = 9007199254740993000
local g = 0x1p4
local h = '\x41\u{41}'
local i = [[two
lines]]
goto done
::done::
--[[ a comment
]]
local j = 12ab
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: '//' exists only since Lua 5.3
-- refused at 15: bit operator '&' exists only since Lua 5.3
-- refused at 16: bit operator '|' exists only since Lua 5.3
-- refused at 17: bit operator '~' exists only since Lua 5.3
-- refused at 18: bit operator '<<' exists
-- refused at 18: bit operator '>>' exists
-- refused at 19: is above 2^53
-- refused at 20: hexadecimal fraction 0x1p4
-- refused at 21: escape \x
-- refused at 21: escape \u
-- refused at 22: string over several lines
-- refused at 24: goto: Lua 5.1 has none
-- refused at 25: labels and goto exist only
-- refused at 26: comment over several lines
-- refused at 28: malformed number 12ab

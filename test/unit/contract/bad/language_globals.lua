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
local f = loadstring(ARGV[2])
local t = setmetatable({}, {})
local s = tostring(1)
local d = cjson.decode(ARGV[2])
local r = math.random(10)
local o = os.time()
local n = next(m)
local g = _G['redis']
local u = heldd(m)
local i = tonumber
local k = string.sub
local p = table.unpack(m)
local l = m.name:lower()
total = 1
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: 'loadstring' is not allowed: it runs code that this check cannot read
-- refused at 15: 'setmetatable' is not allowed: it hides what an operation does
-- refused at 16: 'tostring' is not allowed: Lua 5.1 and 5.4 print numbers differently
-- refused at 17: 'cjson' is not allowed: arguments and answers are flat
-- refused at 18: 'math.random' is not allowed: a script is a function of its arguments
-- refused at 19: 'os' is not allowed: time is an argument
-- refused at 20: 'next' is not allowed: its order differs between servers
-- refused at 21: '_G' is not allowed: it hides what a name means
-- refused at 22: 'heldd' is not allowed: an unknown global
-- refused at 23: 'tonumber' may only be called
-- refused at 24: 'string.sub' may only be called
-- refused at 25: 'table.unpack' is not allowed
-- refused at 26: method call ':lower'
-- refused at 27: assignment to the global 'total'
-- refused at 27: 'total' is not allowed

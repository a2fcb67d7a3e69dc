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
for key in pairs(m) do m[key] = 1 end
for i = 1, 10, m.step do m[i] = 1 end
for i = 1, 10, 0 do m[i] = 1 end
local function again(n) if n > 0 then again(n - 1) end end
local one = again
local f = function() end
m.run()
again(2)
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: 'pairs' is not allowed
-- refused at 14: only 'for i = a, b'
-- refused at 15: the step of a loop must be a number other than 0
-- refused at 16: the step of a loop must be a number other than 0
-- refused at 17: function 'again' calls itself
-- refused at 18: function 'again' may only be called
-- refused at 19: function without a name
-- refused at 20: computed call

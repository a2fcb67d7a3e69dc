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
local count = tonumber(ARGV[2])
m[1] = 'n' .. count
m[1] = #m .. ''
m[1] = count / 2 .. ''
m[1] = redis.call('LLEN', KEYS[2]) .. ''
m[1] = string.format('%d', count)
m[1] = string.format('%s', count)
m[1] = string.format(ARGV[2], count)
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 15: a number beside '..'
-- refused at 16: a number beside '..'
-- refused at 17: a number beside '..'
-- refused at 18: a number beside '..'
-- refused at 19: format %d: Lua 5.1 and 5.4 disagree
-- refused at 20: a number under %s
-- refused at 21: string.format needs a literal format

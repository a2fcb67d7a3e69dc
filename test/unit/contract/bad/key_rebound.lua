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
local wait = KEYS[2]
wait = ARGV[2]
redis.call('LLEN', wait)
local chosen = m.key
redis.call('LLEN', chosen)
for _, name in ipairs(m) do
  redis.call('LLEN', name)
end
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: 'wait' holds a key and is assigned again
-- refused at 18: 'chosen' stands for a key and is not bound by
-- refused at 20: 'name' stands for a key and is not bound by

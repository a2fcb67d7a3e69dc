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
do
  local KEYS = { ARGV[2] }
  redis.call('LLEN', KEYS[1])
end
do
  local redis = m
  redis.call('LLEN', m)
end
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 15: 'KEYS' must keep its meaning
-- refused at 16: the key is not an element of KEYS
-- refused at 19: 'redis' must keep its meaning
-- refused at 20: computed call

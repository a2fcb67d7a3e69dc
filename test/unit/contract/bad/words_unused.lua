-- job/sample: a script for the tests of the contract.
-- KEYS      meta wait events
-- ITEM KEYS job
-- ARGV      revision now count
-- ITEM ARGV id name
-- RETURNS   the statuses, one for each job
-- STATUS    ok gone lock
-- ERRORS    EMQFENCE EMQRATE
-- EMITS     touched lost
-- COST      O(batch)
-- USES      fence emit
local m = fence()
if m.err then return m end
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 7: STATUS names 'lock', which the script never gives
-- refused at 8: ERRORS names 'EMQRATE', which the script never gives
-- refused at 9: EMITS names 'lost', which the script never gives

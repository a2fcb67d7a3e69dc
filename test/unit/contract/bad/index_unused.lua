-- job/sample: a script for the tests of the contract.
-- KEYS      meta wait active events
-- ITEM KEYS job
-- ARGV      revision now count lease
-- ITEM ARGV id name
-- RETURNS   the statuses, one for each job
-- STATUS    ok gone
-- ERRORS    EMQFENCE
-- EMITS     touched
-- COST      O(batch)
-- USES      fence emit
local m = fence()
if m.err then return m end
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[4 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[3 + 2 * i]
end
emit(KEYS[4], ARGV[2], 'touched', touched)
return statuses
-- refused at 2: the key 'active' (KEYS[3]) is declared and never used
-- refused at 4: the argument 'lease' (ARGV[4]) is declared and never used

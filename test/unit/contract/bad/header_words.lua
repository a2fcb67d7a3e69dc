-- job/sample: a script for the tests of the contract.
-- KEYS      meta wait-list events events
-- ITEM KEYS job
-- ARGV      revision now count
-- ITEM ARGV id delete
-- RETURNS   the statuses, one for each job
-- STATUS    ok gone fine
-- ERRORS    EMQFENCE EMQOOPS
-- EMITS     touched
-- COST      O(batch)
-- USES      fence emit nowhere
local m = fence()
if m.err then return m end
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
redis.call('LLEN', KEYS[3])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[4 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[4], ARGV[2], 'touched', touched)
return statuses
-- refused at 2: 'wait-list' in KEYS is not a name
-- refused at 2: 'events' stands twice in KEYS
-- refused at 5: 'delete' in ITEM ARGV is a reserved word
-- refused at 7: 'fine' in STATUS is not one of
-- refused at 8: 'EMQOOPS' in ERRORS is not one of
-- refused at 11: USES names lib/nowhere.lua, which is not there

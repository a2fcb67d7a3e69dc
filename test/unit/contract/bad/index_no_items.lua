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
local statuses = { 'ok', 'gone' }
redis.call('LLEN', KEYS[2])
emit(KEYS[3], ARGV[2], 'touched', { ARGV[3] })
return statuses
-- refused at 2: ITEM KEYS is declared and no item is read
-- refused at 4: ITEM ARGV is declared and no item is read

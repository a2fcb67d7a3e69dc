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
local names = KEYS
table.insert(KEYS, ARGV[2])
KEYS[2] = ARGV[2]
redis.call('DEL', unpack(KEYS))
redis.call('LLEN', KEYS[tonumber(ARGV[2])])
redis.call('LLEN', KEYS['2'])
redis.call('SADD', KEYS[2], KEYS[3])
local held = { KEYS[2] }
local arguments = ARGV
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: KEYS may only be indexed
-- refused at 15: KEYS may only be indexed
-- refused at 16: assignment to the global 'KEYS'
-- refused at 17: write unpack(KEYS, first, last) with both bounds
-- refused at 18: the index of KEYS may hold numbers
-- refused at 19: the index of KEYS may hold numbers
-- refused at 20: a key is used as a value here
-- refused at 21: a key is used as a value here
-- refused at 22: ARGV may only be indexed

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
redis.call('LLEN', KEYS[4])
redis.call('LLEN', KEYS[0])
m[1] = ARGV[9]
redis.call('DEL', unpack(KEYS, 5, #KEYS))
redis.call('DEL', unpack(KEYS, 2, 5))
for i = 1, 3 do
  local a = 3 + (i - 1) * 3
  m[i] = ARGV[a + 1]
  m[i] = ARGV[2 * i]
  m[i] = ARGV[4 + 2 * i]
  redis.call('DEL', KEYS[2 + i])
end
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: KEYS[4]: the header declares 3 fixed ones
-- refused at 15: KEYS[0]: the header declares 3 fixed ones
-- refused at 16: ARGV[9]: the header declares 3 fixed ones
-- refused at 17: unpack(KEYS, 5, ...) begins beyond the first item
-- refused at 18: unpack(KEYS, ..., 5) ends beyond the fixed ones
-- refused at 21: ARGV[...] advances by 3 a round, and an item has 2
-- refused at 22: ARGV[...] is 2 in the first round, and the first item is 4 to 5
-- refused at 23: ARGV[...] is 6 in the first round, and the first item is 4 to 5
-- refused at 24: KEYS[...] is 3 in the first round, and the first item is 4 to 4

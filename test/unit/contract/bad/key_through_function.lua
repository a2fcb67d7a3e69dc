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
local function length(list, also)
  redis.call('LLEN', also)
  return redis.call('LLEN', list)
end
local function twice(list)
  return length(list, KEYS[2]) + length(KEYS[2], list)
end
length(KEYS[2], ARGV[2])
length(KEYS[2])
twice('emq:{q}:' .. ARGV[2])
pcall(length, KEYS[2], ARGV[2])
table.sort(m, function(a, b)
  return redis.call('LLEN', a) < b
end)
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 21: the key is not an element of KEYS
-- refused at 22: the call lacks the key 'also' of length
-- refused at 23: a key is built with '..'
-- refused at 24: the key is not an element of KEYS
-- refused at 25: 'a' stands for a key that no rule can follow here

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
redis.call('HGET', 'emq:{q}:' .. ARGV[2], 'name')
redis.call('HGET', string.format('emq:%s', ARGV[2]), 'name')
redis.call('HGET', 'emq:{q}:meta', 'name')
redis.call('HGET', ARGV[2], 'name')
redis.call('DEL', KEYS[2], KEYS[2] .. ':logs')
redis.call('LMOVE', KEYS[2], ARGV[2], 'LEFT', 'LEFT')
redis.call('DEL', unpack(m))
redis.call('HGET', KEYS[2] or KEYS[3], 'name')
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: a key is built with '..'
-- refused at 15: a key is built with string.format
-- refused at 16: the key 'emq:{q}:meta' is written into the script
-- refused at 17: the key is not an element of KEYS
-- refused at 18: a key is built with '..'
-- refused at 18: a key is used as a value here
-- refused at 19: the key is not an element of KEYS
-- refused at 20: the key is not an element of KEYS
-- refused at 21: the key is not an element of KEYS
-- refused at 21: a key is used as a value here

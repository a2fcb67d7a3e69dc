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
redis.call('RANDOMKEY')
redis.call('KEYS', '*')
redis.call('scan', '0')
redis.call('EVAL', ARGV[2], '0')
redis.call('OBJECT', 'ENCODING', KEYS[2])
redis.call(ARGV[2], KEYS[2])
redis.call('LL' .. 'EN', KEYS[2])
redis.call('GET')
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: RANDOMKEY is refused
-- refused at 15: KEYS is refused: it touches keys that the call does not declare
-- refused at 16: SCAN is refused: it touches keys that the call does not declare
-- refused at 17: EVAL is refused: a script does not call another
-- refused at 18: OBJECT is not in the list of commands
-- refused at 19: redis.call needs its command as a literal string
-- refused at 20: redis.call needs its command as a literal string
-- refused at 21: GET lacks its key

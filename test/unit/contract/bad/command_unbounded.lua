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
redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2])
redis.call('LRANGE', KEYS[2], '0', '-1')
redis.call('XRANGE', KEYS[3], '-', '+')
redis.call('SMEMBERS', KEYS[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '0', '1')
redis.call('LREM', KEYS[2], '1', ARGV[2])
redis.call('LPOS', KEYS[2], ARGV[2])
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: ZRANGEBYSCORE without LIMIT
-- refused at 15: LRANGE to the end reads without a bound
-- refused at 16: XRANGE without COUNT reads without a bound
-- refused at 17: SMEMBERS is refused
-- refused at 18: ZREMRANGEBYSCORE is refused: it deletes without a limit
-- refused at 19: LREM of an id looks through the whole list
-- refused at 20: LPOS without MAXLEN looks through the whole list

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
redis.call('TIME')
redis.call('SRANDMEMBER', KEYS[2])
redis.call('SPOP', KEYS[2])
redis.call('PTTL', KEYS[2])
redis.pcall('EXPIRE', KEYS[2], '10')
redis.call('SET', KEYS[2], 'x', 'PX', '10')
redis.call('XADD', KEYS[3], '*', 'a', 'b')
redis.call('XADD', KEYS[3], ARGV[2] .. '-*', 'a', 'b')
local statuses, touched = {}, {}
redis.call('LLEN', KEYS[2])
for i = 1, tonumber(ARGV[3]) do
  statuses[i] = redis.call('EXISTS', KEYS[3 + i]) == 1 and 'ok' or 'gone'
  touched[i] = ARGV[2 + 2 * i]
end
emit(KEYS[3], ARGV[2], 'touched', touched)
return statuses
-- refused at 14: TIME is refused: time is an argument
-- refused at 15: SRANDMEMBER is refused: it reads a random member
-- refused at 16: SPOP is refused: it takes a random member
-- refused at 17: PTTL is refused: no logic depends on a key having expired
-- refused at 18: EXPIRE is refused: no logic depends on a key having expired
-- refused at 19: SET with PX: no logic depends
-- refused at 20: XADD with an id of the server's clock
-- refused at 21: XADD with an id of the server's clock

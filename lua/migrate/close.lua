-- migrate/close: ends the filling of a target: `finish` makes a queue of it, with the marks that its workers
-- wait for; `abort` marks it as one that is being taken away, so that no chunk is stored in it any more, and
-- leaves `cursor`, by which it is known when a v1 client overwrites the mark.
-- KEYS    meta marker delayed schedules wait prioritized
-- ARGV    revision how
-- RETURNS ok
-- STATUS  ok
-- ERRORS  EMQFENCE
-- COST    O(1): at most 9 calls
-- USES    fence_migrating
local m = fence()
if m.err then return m end
-- A full server allows a deletion, and after it the rest.
if ARGV[2] ~= 'finish' then
  redis.call('HDEL', KEYS[1], '')
  redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0:aborting')
  return 'ok'
end
local due = redis.call('ZRANGE', KEYS[3], '0', '0', 'WITHSCORES')[2]
local tick = redis.call('ZRANGE', KEYS[4], '0', '0', 'WITHSCORES')[2]
local ready = redis.call('LLEN', KEYS[5]) + redis.call('ZCARD', KEYS[6])
redis.call('HDEL', KEYS[1], 'cursor')
redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0')
if due then redis.pcall('ZADD', KEYS[2], due, '1') end
if tick and tick ~= 'inf' then redis.pcall('ZADD', KEYS[2], tick, '3') end
if ready > 0 and redis.call('HEXISTS', KEYS[1], 'pause') == 0 then redis.pcall('ZADD', KEYS[2], '0', '0') end
return 'ok'

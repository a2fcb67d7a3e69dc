-- queue/hold: lets no job be claimed before now + duration, or later when the queue is held for longer
-- already; with a duration of 0 it ends a hold, and wakes whatever waited for its end.
-- KEYS    meta limiter marker
-- ARGV    revision now duration
-- RETURNS until when the queue is held, ms; 0 when a hold was ended
-- ERRORS  EMQFENCE
-- COST    O(1): at most seven calls
-- USES    fence limits hold
local m = fence()
if m.err then return m end
redis.call('HLEN', KEYS[2])
-- A full server allows this write, and after it the rest.
redis.call('HDEL', KEYS[1], '')
if ARGV[3] ~= '0' then return hold_queue(m, KEYS[2], tonumber(ARGV[2]), tonumber(ARGV[3])) end
redis.call('HDEL', KEYS[2], 'held', 'hold', 'armed')
if m.limits == no_limits() then redis.call('HDEL', KEYS[1], 'limits') end
redis.pcall('ZREM', KEYS[3], '2')
if not m.paused then redis.pcall('ZADD', KEYS[3], '0', '0') end
return 0

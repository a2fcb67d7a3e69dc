-- queue/counts: how many jobs are in each state, at one moment.
-- KEYS    meta wait crashed prioritized active delayed completed failed waiting_children trash
--         ghosts
-- ARGV    revision
-- RETURNS waiting prioritized active delayed completed failed waiting-children trash paused(0|1)
--         limited(0|1: a limit is set, or the queue is held)
-- ERRORS  EMQFENCE
-- COST    O(1): 11 calls, no write
-- USES    fence
local m = fence()
if m.err then return m end
local noted = redis.call('HMGET', KEYS[11], 'wait', 'crashed')
-- Where somebody deleted a line by hand its ghosts are gone with it.
local function without_ghosts(length, ghosts)
  return math.max(length - (tonumber(ghosts or '0') or 0), 0)
end
return {
  without_ghosts(redis.call('LLEN', KEYS[2]), noted[1]) +
    without_ghosts(redis.call('LLEN', KEYS[3]), noted[2]),
  redis.call('ZCARD', KEYS[4]),
  redis.call('ZCOUNT', KEYS[5], '-inf', '(inf'), -- without the sentinel
  redis.call('ZCARD', KEYS[6]),
  redis.call('ZCARD', KEYS[7]),
  redis.call('ZCARD', KEYS[8]),
  redis.call('ZCARD', KEYS[9]),
  redis.call('SCARD', KEYS[10]),
  m.paused and 1 or 0,
  m.limits and 1 or 0,
}

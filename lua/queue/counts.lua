-- queue/counts: how many jobs are in each state, at one moment.
-- KEYS    meta wait crashed prioritized active delayed completed failed waiting_children trash
-- ARGV    revision
-- RETURNS waiting prioritized active delayed completed failed waiting-children trash paused(0|1)
-- ERRORS  EMQFENCE
-- COST    O(1): 10 calls, no write
-- USES    fence
local m = fence()
if m.err then return m end
return {
  redis.call('LLEN', KEYS[2]) + redis.call('LLEN', KEYS[3]),
  redis.call('ZCARD', KEYS[4]),
  redis.call('ZCOUNT', KEYS[5], '-inf', '(inf'), -- without the sentinel
  redis.call('ZCARD', KEYS[6]),
  redis.call('ZCARD', KEYS[7]),
  redis.call('ZCARD', KEYS[8]),
  redis.call('ZCARD', KEYS[9]),
  redis.call('SCARD', KEYS[10]),
  m.paused and 1 or 0,
}

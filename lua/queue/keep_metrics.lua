-- queue/keep_metrics: for how many minutes the ends of jobs are counted from now on; 0: no more, and what
-- was counted goes.
-- KEYS    meta metrics_completed metrics_failed
-- ARGV    revision minutes
-- RETURNS for how many it was before
-- ERRORS  EMQFENCE
-- COST    O(1): at most 4 calls
-- USES    fence
local m = fence()
if m.err then return m end
if ARGV[2] == '0' then
  redis.call('HDEL', KEYS[1], 'metrics')
  redis.call('UNLINK', KEYS[2], KEYS[3])
else
  -- A full server refuses HSET as a first write.
  redis.call('HDEL', KEYS[1], '')
  redis.call('HSET', KEYS[1], 'metrics', ARGV[2])
end
return tonumber(m.metrics or '0')

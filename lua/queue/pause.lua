-- queue/pause: stops claims on a queue, or lets them go on. Jobs that run are not touched, and adds and
-- promotions go on. Resuming wakes one idle worker, which wakes the next.
-- KEYS    meta marker events
-- ARGV    revision now paused
-- RETURNS 1 when that changed something, 0 when the queue was so already
-- ERRORS  EMQFENCE
-- EMITS   paused resumed
-- COST    O(1): at most six calls
-- USES    fence emit
local m = fence()
if m.err then return m end
local pause = ARGV[3] == '1'
if pause == (m.paused and true or false) then return 0 end
if pause then
  -- A full server refuses HSET as a first write.
  redis.call('HDEL', KEYS[1], '')
  redis.call('HSET', KEYS[1], 'pause', '1')
else
  redis.call('HDEL', KEYS[1], 'pause')
  redis.pcall('ZADD', KEYS[2], '0', '0')
end
-- Of the queue, so of no job.
emit(KEYS[3], m, ARGV[2], 'paused', pause and { '' } or {}, 'resumed', pause and {} or { '' })
return 1

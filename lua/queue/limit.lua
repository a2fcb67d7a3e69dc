-- queue/limit: sets the limits that hold for all workers and producers of a queue, or ends them. An empty
-- argument leaves its limit as it is, 0 ends it; `max`, `duration` and `burst` are one limit; `length` is
-- that of adds. What a window has counted stays when its `max` or `duration` changes. Whatever waits at a
-- gate is woken and looks anew.
-- KEYS    meta limiter marker
-- ARGV    revision concurrency max duration burst length
-- RETURNS 1 when that changed something, 0 when it was so already
-- ERRORS  EMQFENCE
-- COST    O(1): at most eight calls
-- USES    fence limits
local m = fence()
if m.err then return m end
local concurrency, max, duration, burst, length = limits_of(m)
local had_duration, had_burst = duration, burst
if ARGV[2] ~= '' then concurrency = tonumber(ARGV[2]) end
if ARGV[3] ~= '' then
  max, duration, burst = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
end
if ARGV[6] ~= '' then length = tonumber(ARGV[6]) end
if max == 0 then
  duration, burst = 0, 0
end
local limits = string.format('%.0f:%.0f:%.0f:%.0f:%.0f', concurrency, max, duration, burst, length)
local is_held = redis.call('HEXISTS', KEYS[2], 'held') == 1
if limits == (m.limits or no_limits()) then return 0 end

-- A full server allows this write, and after it the rest.
redis.call('HDEL', KEYS[2], 'armed')
local is_other = max == 0 or burst ~= had_burst or (burst > 0 and duration ~= had_duration)
if is_other then redis.call('HDEL', KEYS[2], 'start', 'count', 'at', 'level') end
if limits == no_limits() and not is_held then
  redis.call('HDEL', KEYS[1], 'limits')
else
  redis.call('HSET', KEYS[1], 'limits', limits)
end
redis.pcall('ZREM', KEYS[3], '2')
if not m.paused then redis.pcall('ZADD', KEYS[3], '0', '0') end
return 1

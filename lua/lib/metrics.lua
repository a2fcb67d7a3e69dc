-- Counts jobs that ended into the minute of `now`: one call, and none while meta says nothing of metrics.
-- The first of a minute takes out what is older than is kept, at most 256 minutes, so that a queue that
-- was idle for long catches up in steps; `from` is the oldest minute that may be there. A decoration.
local function count_ended(metrics, m, now, count)
  if not m.metrics or count == 0 then return end
  local minute = math.floor(tonumber(now) / 60000)
  local total = redis.pcall('HINCRBY', metrics, string.format('%.0f', minute), string.format('%.0f', count))
  if total ~= count then return end
  local from = tonumber(redis.call('HGET', metrics, 'from') or '') or minute
  if from > minute then from = minute end
  local over = math.min(minute - (tonumber(m.metrics) or 0), from + 255)
  local old = {}
  for i = from, over do old[#old + 1] = string.format('%.0f', i) end
  if #old > 0 then redis.call('HDEL', metrics, unpack(old)) end
  redis.call('HSET', metrics, 'from', string.format('%.0f', from + #old))
end

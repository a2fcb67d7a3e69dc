-- Places in `prioritized`: priority * 2^32 + a running number, so equal priorities are first in, first
-- out. The number starts again when the set is empty; the greatest score stays below 2^53.
local function take_places(prioritized, count)
  if redis.call('ZCARD', prioritized) == 0 then
    redis.call('HSET', KEYS[1], 'priority_seq', string.format('%.0f', count))
    return 1
  end
  return redis.call('HINCRBY', KEYS[1], 'priority_seq', string.format('%.0f', count)) - count + 1
end

local function place_of(priority, seq)
  return string.format('%.0f', tonumber(priority) * 4294967296 + seq % 4294967296)
end

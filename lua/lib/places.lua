-- Places in `prioritized`: priority * 2^32 + a running number, so equal priorities are first in, first
-- out. The number goes on while the set is empty, because jobs with a place may be out and come back; it
-- starts again there only past 2^31. The greatest score stays below 2^53.
local function take_places(prioritized, count)
  local last = redis.call('HINCRBY', KEYS[1], 'priority_seq', string.format('%.0f', count))
  if last > 2147483648 and redis.call('ZCARD', prioritized) == 0 then
    redis.call('HSET', KEYS[1], 'priority_seq', string.format('%.0f', count))
    return 1
  end
  return last - count + 1
end

local function place_of(priority, seq)
  return string.format('%.0f', tonumber(priority) * 4294967296 + seq % 4294967296)
end

-- Jobs that begin to wait for a time, and the earliest of those times.
local function new_timers()
  return { ids = {}, entries = {} }
end

local function wait_until(timers, id, due)
  if not timers.earliest or due < timers.earliest then timers.earliest = due end
  timers.ids[#timers.ids + 1] = id
  timers.entries[#timers.entries + 1] = string.format('%.0f', due)
  timers.entries[#timers.entries + 1] = id
end

-- Writes them, and the mark that tells of the next one.
local function put_timers(timers, delayed, marker)
  if #timers.ids == 0 then return end
  redis.call('ZADD', delayed, unpack(timers.entries))
  redis.pcall('ZADD', marker, 'LT', string.format('%.0f', timers.earliest), '1')
end

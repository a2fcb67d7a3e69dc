-- How many more jobs may be added to a queue whose length is limited; needs `limits`. `length` is how many
-- entries stand in its lanes and timers, ghosts included. Answers nil where there is no limit.
local function room_left(m, length, ghosts)
  if not m.limits then return nil end
  local _, _, _, _, most = limits_of(m)
  if most == 0 then return nil end
  local noted = redis.call('HMGET', ghosts, 'wait', 'crashed')
  return most - length + (tonumber(noted[1] or '0') or 0) + (tonumber(noted[2] or '0') or 0)
end

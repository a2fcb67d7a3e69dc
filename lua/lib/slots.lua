-- An end of claims opens the gate of the limit on active jobs when it passes below the limit: then it wakes
-- one idle worker, which wakes the next; needs `limits`. `left` is how many jobs have just left `active`.
local function free_slots(m, active, marker, left)
  if not m.limits or m.paused or left == 0 then return end
  local concurrency = limits_of(m)
  if concurrency == 0 then return end
  local running = redis.call('ZCOUNT', active, '-inf', '(inf')
  if running < concurrency and running + left >= concurrency then
    redis.pcall('ZADD', marker, '0', '0')
  end
end

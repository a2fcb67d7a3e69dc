-- Stores one job in its own hash and notes where it waits; needs `lanes`, `places` and `timers`. Answers the
-- number of the next place. What is text stays text: delay and priority are digits.
local function store_job(job, j, now, seq, lanes, timers)
  redis.call('HSET', job, 'head', now .. ':' .. string.format('%.0f', #j.name) .. ':' .. j.name .. j.opts,
    'data', j.data)
  if j.de ~= '' then redis.call('HSET', job, 'deid', j.de) end
  if j.lifo then redis.call('HSET', job, 'lifo', '1') end
  local place
  if j.priority ~= '0' then
    redis.call('HSET', job, 'priority', j.priority)
    if j.delay == '0' then
      place = place_of(j.priority, seq)
      seq = seq + 1
      redis.call('HSET', job, 'place', place)
    end
  end
  if j.delay ~= '0' then
    redis.call('HSET', job, 'delay', j.delay)
    wait_until(timers, j.id, tonumber(now) + tonumber(j.delay))
  else
    sort_into(lanes, j.id, place, nil, j.lifo)
  end
  return seq
end

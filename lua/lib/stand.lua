-- Where a new job waits, by what its add says of it (`how`: delay and priority as digits, lifo): noted in
-- its hash, and in the lanes or timers; needs `lanes`, `places` and `timers`. Answers the number of the next
-- place.
local function stand(job, id, how, now, seq, lanes, timers)
  if how.lifo then redis.call('HSET', job, 'lifo', '1') end
  local place
  if how.priority ~= '0' then
    redis.call('HSET', job, 'priority', how.priority)
    if how.delay == '0' then
      place = place_of(how.priority, seq)
      seq = seq + 1
      redis.call('HSET', job, 'place', place)
    end
  end
  if how.delay ~= '0' then
    redis.call('HSET', job, 'delay', how.delay)
    wait_until(timers, id, tonumber(now) + tonumber(how.delay))
  else
    sort_into(lanes, id, place, nil, how.lifo)
  end
  return seq
end

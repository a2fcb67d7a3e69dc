-- Ends the delay of a job in its hash; needs `places`. One with a priority that has not been ready yet
-- gets its place. Answers the job's place, and the number of the next one.
local function end_delay(job, place, priority, seq)
  if place or not priority then
    redis.call('HSET', job, 'delay', '0')
    return place, seq
  end
  local new_place = place_of(priority, seq)
  redis.call('HSET', job, 'delay', '0', 'place', new_place)
  return new_place, seq + 1
end

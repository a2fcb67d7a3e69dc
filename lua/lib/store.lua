-- Stores one job in its own hash and notes where it waits; needs `stand`. Answers the number of the next
-- place.
local function store_job(job, j, now, seq, lanes, timers)
  redis.call('HSET', job, 'head', now .. ':' .. string.format('%.0f', #j.name) .. ':' .. j.name .. j.opts,
    'data', j.data)
  if j.de ~= '' then redis.call('HSET', job, 'deid', j.de) end
  return stand(job, j.id, j, now, seq, lanes, timers)
end

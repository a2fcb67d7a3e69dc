-- What a claim leaves behind at the gates; needs `gates`.

-- Notes that `taken` jobs have passed. A hold that is over is forgotten, and with it the state of a queue
-- that has no other limit.
local function pass(g, limiter, taken)
  if g.hold_over then
    redis.call('HDEL', limiter, 'held', 'hold')
    if g.concurrency == 0 and g.max == 0 and g.length == 0 then
      redis.call('HDEL', KEYS[1], 'limits')
      redis.call('DEL', limiter)
    end
  end
  if not g.allowed or taken == 0 then return end
  if g.burst == 0 then
    redis.call('HSET', limiter, 'start', string.format('%.0f', g.start), 'count',
      string.format('%.0f', g.count + taken))
  else
    redis.call('HSET', limiter, 'at', string.format('%.0f', g.at), 'level',
      string.format('%.0f', g.level - taken * g.duration))
  end
end

-- Marks the time at which the closed gate opens, once: one worker pops the mark and keeps that time for
-- all, so that a closed gate is not asked again and again.
local function arm(g, active, limiter, marker, opens)
  local at = string.format('%.0f', opens)
  if g.armed == at then return end
  -- A full server allows this write, and after it the rest.
  redis.call('ZREM', active, '')
  redis.pcall('HSET', limiter, 'armed', at)
  redis.pcall('ZADD', marker, at, '2')
end

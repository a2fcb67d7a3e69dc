-- Holds the queue until now + length, or for as long as it is held already when that is longer; needs
-- `limits`. Answers until when. It begins with a write that a full server refuses as a first one.
local function hold_queue(m, limiter, now, length)
  local s = redis.call('HMGET', limiter, 'held', 'hold')
  local since, of = tonumber(s[1] or ''), tonumber(s[2] or '')
  if since and of and within(now, since, of) and since + of >= now + length then
    return since + of
  end
  redis.call('HSET', limiter, 'held', string.format('%.0f', now), 'hold',
    string.format('%.0f', length))
  if not m.limits then redis.call('HSET', KEYS[1], 'limits', no_limits()) end
  return now + length
end

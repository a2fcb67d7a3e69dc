-- The gates of a queue besides its pause: a hold, the limit on active jobs, the limit on their rate; needs
-- `limits`. Their state is in `limiter`: `held` and `hold` (when a hold began, and its length), `start` and
-- `count` of a window, `at` and `level` of a bucket, and `armed`, the time that somebody keeps already.

-- How many jobs the gates let through now (`room`), and what that follows from.
local function look_at_gates(m, active, limiter, now)
  local concurrency, max, duration, burst, length = limits_of(m)
  local s = redis.call('HMGET', limiter, 'held', 'hold', 'start', 'count', 'at', 'level', 'armed')
  local g = { room = 1000000, max = max, duration = duration, burst = burst, armed = s[7],
    concurrency = concurrency, length = length }
  if concurrency > 0 then
    g.slots = math.max(concurrency - redis.call('ZCOUNT', active, '-inf', '(inf'), 0)
    g.room = g.slots
  end
  if max > 0 and burst == 0 then
    g.start, g.count = tonumber(s[3] or ''), tonumber(s[4] or '') or 0
    if not g.start or not within(now, g.start, duration) then
      g.start, g.count = now, 0
    end
    g.allowed = math.max(max - g.count, 0)
  elseif max > 0 then
    -- A millisecond brings `max`, a job takes `duration`: so all numbers are whole.
    local full = burst * duration
    g.at, g.level = tonumber(s[5] or ''), tonumber(s[6] or '')
    if not g.at or not g.level or g.at - now > math.max(duration, 1000) then
      g.at, g.level = now, full
    end
    if now > g.at then
      g.level = g.level + (now - g.at) * max
      g.at = now
    end
    g.level = math.min(g.level, full)
    g.allowed = math.floor(g.level / duration)
  end
  if g.allowed and g.allowed < g.room then g.room = g.allowed end
  local held, hold = tonumber(s[1] or ''), tonumber(s[2] or '')
  if held and hold and within(now, held, hold) then
    g.held_until = held + hold
    g.room = 0
  end
  g.hold_over = (s[1] or s[2]) and not g.held_until
  return g
end

-- Which gate is closed once `taken` jobs have passed, and when it opens by itself (0: a job has to end).
local function closed_gate(g, taken)
  if g.held_until then return 'held', g.held_until end
  if g.slots and g.slots <= taken then return 'concurrency', 0 end
  if g.allowed and g.allowed <= taken then
    if g.burst == 0 then return 'rate', g.start + g.duration end
    return 'rate', g.at + math.ceil((g.duration * (taken + 1) - g.level) / g.max)
  end
  return 'open', 0
end

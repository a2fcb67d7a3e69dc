-- The version fence: the first act of every transition, so that no call runs on another wire's keys.
-- Answers the fields of meta that transitions need, or a table with `err`, which the caller returns.
-- KEYS[1] is meta, ARGV[1] the revision of the caller's script set.
local function fence()
  local m = redis.pcall('HMGET', KEYS[1], 'version', 'min_revision', 'pause', 'event_cap',
    'event_trim', 'metrics', 'limits', 'paused')
  if m.err then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=a meta key of another type')
  end
  if m[1] ~= 'echomq:2.0.0' then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=' .. (m[1] or 'nothing'))
  end
  if tonumber(m[2] or '1') > tonumber(ARGV[1]) then
    return redis.error_reply('EMQFENCE expected=revision ' .. ARGV[1] .. ' found=revision ' .. m[2])
  end
  -- The one thing that a v1 client writes here when it leaves the version alone; it has moved jobs away.
  if m[8] then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=a queue that v1 has paused')
  end
  return { paused = m[3], event_cap = m[4] or '10000', event_trim = m[5] or '~', metrics = m[6],
    limits = m[7] }
end

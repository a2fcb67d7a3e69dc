-- The fence of a migration: its target says in its version that it is being filled, so that every other
-- transition refuses it, and no transition of a migration runs on anything else. Answers how far the copy has
-- come (`cursor`), or a table with `err`, which the caller returns.
local function fence()
  local m = redis.pcall('HMGET', KEYS[1], 'version', 'min_revision', 'cursor', 'paused')
  if m.err then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0:migrating found=a meta key of another type')
  end
  if m[1] ~= 'echomq:2.0.0:migrating' then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0:migrating found=' .. (m[1] or 'nothing'))
  end
  if tonumber(m[2] or '1') > tonumber(ARGV[1]) then
    return redis.error_reply('EMQFENCE expected=revision ' .. ARGV[1] .. ' found=revision ' .. m[2])
  end
  if m[4] then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0:migrating found=a queue that v1 has paused')
  end
  return { cursor = m[3] or '' }
end

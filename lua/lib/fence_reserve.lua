-- The fence of the deployment's own keys: {emq}:version is absent (a new deployment) or ours.
local function fence()
  local v = redis.pcall('GET', KEYS[1])
  if type(v) == 'table' and v.err then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=a version key of another type')
  end
  if v and v ~= 'echomq:2.0.0' then
    return redis.error_reply('EMQFENCE expected=echomq:2.0.0 found=' .. v)
  end
  return { fresh = not v, revision = ARGV[1] }
end

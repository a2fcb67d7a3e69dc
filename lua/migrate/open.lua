-- migrate/open: makes the target of a migration: a queue whose version says that it is being filled, with the
-- settings that the v1 queue had. Only where there is nothing of a queue yet. `settings` is in the form of
-- lib/fields.
-- KEYS    meta id repeat wait ghosts prioritized crashed active delayed completed failed
--         waiting_children marker events limiter producers outbox trash subkeys schedules de de_due
--         de_next
-- ARGV    revision now settings
-- RETURNS 1 when the target was made by this call, 0 when it was there
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- COST    O(1): at most 7 calls
-- USES    fence_migrating full fields sentinel
local meta = redis.pcall('EXISTS', KEYS[1])
if meta == 0 then
  if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9],
    KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18],
    KEYS[19], KEYS[20], KEYS[21], KEYS[22], KEYS[23]) > 0 then
    return redis.error_reply(
      'EMQFENCE expected=echomq:2.0.0:migrating found=keys of the queue without a meta')
  end
  local settings = read_fields(ARGV[3])
  if not settings then return redis.error_reply('EMQARG settings of an unknown form') end
  local made = redis.pcall('HSET', KEYS[1], 'version', 'echomq:2.0.0:migrating', 'min_revision', '1',
    'created', ARGV[2], 'concurrency', 'echomq:2.0.0', unpack(settings))
  if refused(made) then return refused(made) end
  redis.call('SET', KEYS[2], 'echomq:2.0.0')
  redis.call('SET', KEYS[3], 'echomq:2.0.0')
  redis.call('ZADD', KEYS[8], 'inf', sentinel())
  return 1
end
local m = fence()
if m.err then return m end
return 0

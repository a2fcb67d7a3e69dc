-- migrate/open: makes the target of a migration: a queue whose version says that it is being filled, with the
-- settings that the v1 queue had. Only where there is nothing of a queue yet. `settings` is in the form of
-- lib/fields. A target in which a v1 client has written (it overwrites the version and adds fields, and
-- leaves `cursor`, which only targets have) is marked as one again.
-- KEYS    meta id repeat wait ghosts prioritized crashed active delayed completed failed
--         waiting_children marker events limiter producers outbox trash subkeys schedules de de_due
--         de_next
-- ARGV    revision now settings
-- RETURNS 1 when the target was made by this call, 0 when it was there, 2 when it was marked again
-- ERRORS  EMQFENCE EMQFULL EMQARG
-- COST    O(1): at most 7 calls
-- USES    fence_migrating full fields sentinel make v1_fields
local meta = redis.pcall('EXISTS', KEYS[1])
if meta == 0 then
  local settings = read_fields(ARGV[3])
  if not settings then return redis.error_reply('EMQARG settings of an unknown form') end
  settings[#settings + 1] = 'cursor'
  settings[#settings + 1] = ''
  return make('echomq:2.0.0:migrating', settings)
end
local seen = redis.pcall('HMGET', KEYS[1], 'version', 'min_revision', 'cursor', 'paused')
local overwritten = not seen.err and seen[1] and string.sub(seen[1], 1, 6) == 'bullmq'
local paused = not seen.err and seen[1] == 'echomq:2.0.0:migrating' and seen[4]
local again = (overwritten or paused) and seen[3] and tonumber(seen[2] or 'none')
if again and again <= tonumber(ARGV[1]) then
  drop_v1_fields()
  redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0:migrating')
  return 2
end
local m = fence()
if m.err then return m end
return 0

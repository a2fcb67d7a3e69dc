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
-- USES    fence_migrating full fields sentinel make
local meta = redis.pcall('EXISTS', KEYS[1])
if meta == 0 then
  local settings = read_fields(ARGV[3])
  if not settings then return redis.error_reply('EMQARG settings of an unknown form') end
  return make('echomq:2.0.0:migrating', settings)
end
local m = fence()
if m.err then return m end
return 0

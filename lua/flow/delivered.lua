-- flow/delivered: forgets what `outbox` need not hold any more: messages that were delivered, and notes of
-- how far a flow was added here. One that begins with something else than `seen` is newer and stays. With
-- `orphaned` nobody was there to be told, which an event tells instead.
-- KEYS    meta outbox events
-- ARGV    revision now count
-- ITEM ARGV field seen orphaned
-- RETURNS one status for each field
-- STATUS  ok moved
-- ERRORS  EMQFENCE
-- EMITS   orphaned
-- COST    O(batch): two calls a field
-- USES    fence emit
local m = fence()
if m.err then return m end
local statuses, forgotten, orphans = {}, {}, {}
for i = 1, tonumber(ARGV[3]) do
  local field, seen = ARGV[1 + 3 * i], ARGV[2 + 3 * i]
  local text = redis.call('HGET', KEYS[2], field)
  statuses[i] = 'moved'
  if text and string.sub(text, 1, #seen) == seen then
    statuses[i] = 'ok'
    forgotten[#forgotten + 1] = field
    if ARGV[3 + 3 * i] == '1' then orphans[#orphans + 1] = string.match(field, '^%S+') end
  end
end
if #forgotten > 0 then redis.call('HDEL', KEYS[2], unpack(forgotten)) end
emit(KEYS[3], m, ARGV[2], 'orphaned', orphans)
return statuses

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
-- COST    O(batch): two calls
-- USES    fence emit
local m = fence()
if m.err then return m end
local count, fields = tonumber(ARGV[3]), {}
for i = 1, count do fields[i] = ARGV[1 + 3 * i] end
local texts = redis.call('HMGET', KEYS[2], unpack(fields))
local statuses, forgotten, orphans = {}, {}, {}
for i = 1, count do
  local field, seen = fields[i], ARGV[2 + 3 * i]
  statuses[i] = 'moved'
  if texts[i] and string.sub(texts[i], 1, #seen) == seen then
    statuses[i] = 'ok'
    forgotten[#forgotten + 1] = field
    if ARGV[3 + 3 * i] == '1' then orphans[#orphans + 1] = string.match(field, '^%S+') end
  end
end
if #forgotten > 0 then redis.call('HDEL', KEYS[2], unpack(forgotten)) end
emit(KEYS[3], m, ARGV[2], 'orphaned', orphans)
return statuses

-- schedule/remove: removes schedulers. The jobs that they made stay.
-- KEYS    meta schedules
-- ITEM KEYS schedule
-- ARGV    revision count
-- ITEM ARGV id
-- RETURNS one status for each scheduler
-- STATUS  ok gone
-- ERRORS  EMQFENCE
-- COST    O(batch log N): two calls a scheduler
-- USES    fence
local m = fence()
if m.err then return m end
local ids, statuses = {}, {}
for i = 1, tonumber(ARGV[2]) do ids[i] = ARGV[2 + i] end
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ids))
for i = 1, #ids do
  statuses[i] = (redis.call('EXISTS', KEYS[2 + i]) == 1 or scores[i]) and 'ok' or 'gone'
end
redis.call('ZREM', KEYS[2], unpack(ids))
redis.call('DEL', unpack(KEYS, 3, #KEYS))
return statuses

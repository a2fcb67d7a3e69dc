-- deduplication/hold: what is owned for a time holds without its owner from now on. Said before the owner
-- ends: its job may be deleted by its end, and the time goes on.
-- KEYS    meta de
-- ARGV    revision count
-- ITEM ARGV de owner
-- RETURNS how many of them that changed
-- ERRORS  EMQFENCE
-- COST    O(batch): two calls an id
-- USES    fence dedup
local m = fence()
if m.err then return m end
redis.call('HLEN', KEYS[2])
-- A full server allows this write, and after it the rest.
redis.call('HDEL', KEYS[2], '')
local changed = 0
for i = 1, tonumber(ARGV[2]) do
  local de = ARGV[1 + 2 * i]
  local e = read_entry(redis.call('HGET', KEYS[2], de))
  if e and e.owner == ARGV[2 + 2 * i] and e.expiry > 0 and not e.held then
    e.held = true
    redis.call('HSET', KEYS[2], de, entry_text(e))
    changed = changed + 1
  end
end
return changed

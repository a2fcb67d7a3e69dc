-- node/lease: takes, extends or returns a node id, which one live process at a time may hold. An entry
-- of nodes is `<until ms> <grant> <owner>`; the field `grants` counts the grants, so that each holder's
-- flush numbers are newer than those of every holder before it. The first of the offered ids that is
-- free, expired or the caller's own is granted. An id is returned with keep = 0: its owner becomes `-`,
-- and `until` is the greatest millisecond minted for, the next holder's floor.
-- KEYS    version nodes
-- ARGV    revision now until owner keep count
-- ITEM ARGV node
-- RETURNS node, grant, floor (the end of the previous holder's lease); empty when none was free
-- ERRORS  EMQFENCE
-- COST    O(ids offered), at most 64
-- USES    fence_reserve
local m = fence()
if m.err then return m end
local now, owner = tonumber(ARGV[2]), ARGV[4]
for i = 1, tonumber(ARGV[6]) do
  local node = ARGV[6 + i]
  local entry = redis.call('HGET', KEYS[2], node)
  local held_until, grant, holder = string.match(entry or '', '^(%d+) (%d+) (.+)$')
  if holder == owner or not holder or holder == '-' or tonumber(held_until) < now then
    -- A full server refuses HSET as a first write, and must not cost its workers their node ids.
    redis.call('HDEL', KEYS[2], '')
    if m.fresh then redis.call('SET', KEYS[1], 'echomq:2.0.0') end
    if holder ~= owner then
      grant = string.format('%.0f', redis.call('HINCRBY', KEYS[2], 'grants', 1))
    end
    local by = ARGV[5] == '1' and owner or '-'
    redis.call('HSET', KEYS[2], node, ARGV[3] .. ' ' .. grant .. ' ' .. by)
    return { node, grant, held_until or '0' }
  end
end
return {}

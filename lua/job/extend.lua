-- job/extend: moves the deadline of leases that the caller still holds. The token stays, so a finish in
-- the same pipeline or a repeated extension is not refused.
-- KEYS    meta active
-- ARGV    revision deadline count
-- ITEM ARGV id token
-- RETURNS one status for each job
-- STATUS  ok stale
-- ERRORS  EMQFENCE
-- COST    O(batch log N): four calls
-- USES    fence held
local m = fence()
if m.err then return m end
local deadline, count = tonumber(ARGV[2]), tonumber(ARGV[3])
local ids, tokens = {}, {}
for i = 1, count do
  ids[i], tokens[i] = ARGV[2 + 2 * i], ARGV[3 + 2 * i]
end
local mine = held(KEYS[2], ids, tokens)
local statuses, leases = {}, {}
for i = 1, count do
  statuses[i] = mine[i] and 'ok' or 'stale'
  if mine[i] then
    leases[#leases + 1] = string.format('%.0f', deadline * 2097152 + tonumber(tokens[i]))
    leases[#leases + 1] = ids[i]
  end
end
if #leases > 0 then
  -- A full server allows this write, and after it the rest.
  redis.call('ZREM', KEYS[2], '')
  redis.call('ZADD', KEYS[2], 'XX', unpack(leases))
end
return statuses

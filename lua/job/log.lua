-- job/log: appends lines to the logs of jobs, of which the last `keep` stay. A run shows its token, and
-- is refused when the lease is no longer its own; a line without a token may come from anybody.
-- KEYS    meta active trash subkeys
-- ITEM KEYS job logs
-- ARGV    revision count keep
-- ITEM ARGV id token line
-- RETURNS one status for each line
-- STATUS  ok stale gone
-- ERRORS  EMQFENCE
-- COST    O(batch): five calls a line
-- USES    fence may_write
local m = fence()
if m.err then return m end
local count = tonumber(ARGV[2])
local ids = {}
for i = 1, count do ids[i] = ARGV[1 + 3 * i] end
local leases = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local trashed = redis.call('SMISMEMBER', KEYS[3], unpack(ids))
redis.call('SCARD', KEYS[4])
local statuses, any = {}, false
for i = 1, count do
  if trashed[i] == 1 or redis.pcall('HEXISTS', KEYS[3 + 2 * i], 'head') ~= 1 then
    statuses[i] = 'gone'
  elseif not may_write(leases[i], ARGV[2 + 3 * i]) then
    statuses[i] = 'stale'
  else
    redis.call('LLEN', KEYS[4 + 2 * i])
    statuses[i] = 'ok'
    any = true
  end
end
if any then
  -- A full server allows this write, and after it the rest.
  redis.call('ZREM', KEYS[2], '')
  for i = 1, count do
    if statuses[i] == 'ok' then
      redis.call('SADD', KEYS[4], ids[i])
      redis.call('RPUSH', KEYS[4 + 2 * i], ARGV[3 + 3 * i])
      redis.call('LTRIM', KEYS[4 + 2 * i], '-' .. ARGV[3], '-1')
    end
  end
end
return statuses

-- job/update: replaces the data of jobs, in whatever state they are. A handler that runs keeps what it
-- was given. A run shows its token, and is refused when the lease is no longer its own; data without a
-- token may come from anybody.
-- KEYS    meta active trash
-- ITEM KEYS job
-- ARGV    revision count
-- ITEM ARGV id token data
-- RETURNS one status for each job
-- STATUS  ok stale gone
-- ERRORS  EMQFENCE
-- COST    O(batch): two calls a job
-- USES    fence may_write
local m = fence()
if m.err then return m end
local count = tonumber(ARGV[2])
local ids = {}
for i = 1, count do ids[i] = ARGV[3 * i] end
local leases = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local trashed = redis.call('SMISMEMBER', KEYS[3], unpack(ids))
local statuses, any = {}, false
for i = 1, count do
  if trashed[i] == 1 or redis.pcall('HEXISTS', KEYS[3 + i], 'head') ~= 1 then
    statuses[i] = 'gone'
  elseif not may_write(leases[i], ARGV[1 + 3 * i]) then
    statuses[i] = 'stale'
  else
    statuses[i] = 'ok'
    any = true
  end
end
if any then
  -- A full server allows this write, and after it the rest.
  redis.call('ZREM', KEYS[2], '')
  for i = 1, count do
    if statuses[i] == 'ok' then redis.call('HSET', KEYS[3 + i], 'data', ARGV[2 + 3 * i]) end
  end
end
return statuses

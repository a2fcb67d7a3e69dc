-- job/update: replaces the data of jobs, in whatever state they are. A handler that runs keeps what it
-- was given.
-- KEYS    meta active trash
-- ITEM KEYS job
-- ARGV    revision count
-- ITEM ARGV id data
-- RETURNS one status for each job
-- STATUS  ok gone
-- ERRORS  EMQFENCE
-- COST    O(batch): two calls a job
-- USES    fence
local m = fence()
if m.err then return m end
local count = tonumber(ARGV[2])
local ids = {}
for i = 1, count do ids[i] = ARGV[1 + 2 * i] end
redis.call('ZCARD', KEYS[2])
local trashed = redis.call('SMISMEMBER', KEYS[3], unpack(ids))
local statuses, any = {}, false
for i = 1, count do
  local there = trashed[i] == 0 and redis.pcall('HEXISTS', KEYS[3 + i], 'head') == 1
  statuses[i] = there and 'ok' or 'gone'
  any = any or there
end
if any then
  -- A full server allows this write, and after it the rest.
  redis.call('ZREM', KEYS[2], '')
  for i = 1, count do
    if statuses[i] == 'ok' then redis.call('HSET', KEYS[3 + i], 'data', ARGV[2 + 2 * i]) end
  end
end
return statuses

-- job/progress: stores what handlers report while they run. Only for jobs whose lease the caller holds.
-- KEYS    meta active events
-- ITEM KEYS job
-- ARGV    revision now count
-- ITEM ARGV id token value
-- RETURNS one status for each job
-- STATUS  ok stale gone
-- ERRORS  EMQFENCE
-- EMITS   progress
-- COST    O(batch): two calls a job
-- USES    fence held emit
local m = fence()
if m.err then return m end
local now, count = ARGV[2], tonumber(ARGV[3])
local ids, tokens = {}, {}
for i = 1, count do
  local a = 3 + (i - 1) * 3
  ids[i], tokens[i] = ARGV[a + 1], ARGV[a + 2]
end
local mine = held(KEYS[2], ids, tokens)
local statuses, told = {}, {}
for i = 1, count do
  local job = redis.pcall('HGET', KEYS[3 + i], 'head')
  if type(job) ~= 'string' then
    statuses[i] = 'gone'
  elseif not mine[i] then
    statuses[i] = 'stale'
  else
    statuses[i] = 'ok'
    told[#told + 1] = ids[i]
  end
end
if #told > 0 then
  -- A full server allows this write, and after it the rest.
  redis.call('ZREM', KEYS[2], '')
  for i = 1, count do
    if statuses[i] == 'ok' then
      redis.call('HSET', KEYS[3 + i], 'progress', ARGV[3 + (i - 1) * 3 + 3])
    end
  end
end
emit(KEYS[3], m, now, 'progress', told)
return statuses

-- queue/metrics: how many jobs ended in each of some minutes, counted since 1970; 0 where none did.
-- KEYS    meta metrics
-- ARGV    revision from count
-- RETURNS how many minutes are kept (0: they are not counted), then a number for each minute
-- ERRORS  EMQFENCE
-- COST    O(count): 2 calls, no write
-- USES    fence
local m = fence()
if m.err then return m end
local from, minutes = tonumber(ARGV[2]), {}
for i = 1, tonumber(ARGV[3]) do minutes[i] = string.format('%.0f', from + i - 1) end
local answer = { m.metrics or '0' }
for i, ended in ipairs(redis.call('HMGET', KEYS[2], unpack(minutes))) do
  answer[1 + i] = ended or '0'
end
return answer

-- queue/priorities: how many ready jobs have each priority, from a given priority on.
-- KEYS    meta prioritized
-- ARGV    revision from limit
-- RETURNS priorities and their counts in turn, rising, at most `limit` priorities
-- ERRORS  EMQFENCE
-- COST    O(limit log N): two calls a priority, no write
-- USES    fence
local m = fence()
if m.err then return m end
local answer = {}
local from = tonumber(ARGV[2])
for _ = 1, tonumber(ARGV[3]) do
  local next_one = redis.call('ZRANGEBYSCORE', KEYS[2], string.format('%.0f', from * 4294967296),
    '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
  if #next_one == 0 then return answer end
  local priority = math.floor(tonumber(next_one[2]) / 4294967296)
  local low = string.format('%.0f', priority * 4294967296)
  local high = string.format('%.0f', (priority + 1) * 4294967296)
  answer[#answer + 1] = string.format('%.0f', priority)
  answer[#answer + 1] = redis.call('ZCOUNT', KEYS[2], low, '(' .. high)
  from = priority + 1
end
return answer

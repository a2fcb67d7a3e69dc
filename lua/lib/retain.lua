-- Retention: takes the oldest entries of a finished set that are over its count, its age or its bytes out
-- of it, at most 512 a call, and answers their ids; needs `sizes`. keep < 0, age <= 0 and bytes <= 0 mean no
-- limit.

-- How many of the oldest make the set as small as it may be.
local function count_over_bytes(set, sizes, bytes)
  local all = tonumber(redis.call('HGET', sizes, '') or '0') or 0
  if all <= bytes then return 0 end
  local oldest = redis.call('ZRANGE', set, '0', '511')
  if #oldest == 0 then return 0 end
  local each = redis.call('HMGET', sizes, unpack(oldest))
  for i, size in ipairs(each) do
    all = all - (tonumber(size or '0') or 0)
    if all <= bytes then return i end
  end
  return #oldest
end

local function take_over(set, sizes, keep, age, bytes, now)
  local over = 0
  if tonumber(keep) >= 0 then over = redis.call('ZCARD', set) - tonumber(keep) end
  if tonumber(age) > 0 then
    local aged = redis.call('ZCOUNT', set, '-inf', string.format('%.0f', tonumber(now) - tonumber(age)))
    if aged > over then over = aged end
  end
  if tonumber(bytes) > 0 then
    local large = count_over_bytes(set, sizes, tonumber(bytes))
    if large > over then over = large end
  end
  if over <= 0 then return {} end
  if over > 512 then over = 512 end
  local last = string.format('%.0f', over - 1)
  local ids = redis.call('ZRANGE', set, '0', last)
  redis.call('ZREMRANGEBYRANK', set, '0', last)
  forget_sizes(sizes, ids)
  return ids
end

-- The same, into `trash`, and appends the ids to `out`. Their own keys are deleted by job/evict, which can
-- declare them.
local function retain(set, sizes, trash, keep, age, bytes, now, out)
  local ids, n = take_over(set, sizes, keep, age, bytes, now), #out
  if #ids == 0 then return end
  redis.call('SADD', trash, unpack(ids))
  for i, id in ipairs(ids) do out[n + i] = id end
end

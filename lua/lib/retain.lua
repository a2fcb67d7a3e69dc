-- Retention: takes the oldest entries of a finished set that are over its count or its age out of it, at
-- most 512 a call, and answers their ids. keep < 0 and age <= 0 mean no limit.
local function take_over(set, keep, age, now)
  local over = 0
  if tonumber(keep) >= 0 then over = redis.call('ZCARD', set) - tonumber(keep) end
  if tonumber(age) > 0 then
    local aged = redis.call('ZCOUNT', set, '-inf', string.format('%.0f', tonumber(now) - tonumber(age)))
    if aged > over then over = aged end
  end
  if over <= 0 then return {} end
  if over > 512 then over = 512 end
  local last = string.format('%.0f', over - 1)
  local ids = redis.call('ZRANGE', set, '0', last)
  redis.call('ZREMRANGEBYRANK', set, '0', last)
  return ids
end

-- The same, into `trash`, and appends the ids to `out`. Their own keys are deleted by job/evict, which can
-- declare them.
local function retain(set, trash, keep, age, now, out)
  local ids, n = take_over(set, keep, age, now), #out
  if #ids == 0 then return end
  redis.call('SADD', trash, unpack(ids))
  for i, id in ipairs(ids) do out[n + i] = id end
end

-- How large the jobs of a finished set are that ended under a rule with bytes. `sizes` holds each one's
-- bytes, and in the field '' their sum. It is there only while there are any, so that other queues pay a
-- look at nothing. Where the sum is no number the account begins anew: no job is torn over it.

-- Jobs have joined the set: their ids and sizes in turn.
local function note_sizes(sizes, noted)
  if #noted == 0 then return end
  local all = 0
  for i = 2, #noted, 2 do all = all + noted[i] end
  for i = 2, #noted, 2 do noted[i] = string.format('%.0f', noted[i]) end
  redis.call('HSET', sizes, unpack(noted))
  if type(redis.pcall('HINCRBY', sizes, '', string.format('%.0f', all))) ~= 'number' then
    redis.call('DEL', sizes)
  end
end

-- Jobs have left it.
local function forget_sizes(sizes, ids)
  if #ids == 0 or redis.call('HLEN', sizes) == 0 then return end
  local freed = 0
  for _, size in ipairs(redis.call('HMGET', sizes, unpack(ids))) do
    freed = freed + (tonumber(size or '0') or 0)
  end
  redis.call('HDEL', sizes, unpack(ids))
  local left = redis.pcall('HINCRBY', sizes, '', string.format('%.0f', 0 - freed))
  if type(left) ~= 'number' or left <= 0 then redis.call('DEL', sizes) end
end

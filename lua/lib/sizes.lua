-- How large the jobs of a finished set are that ended under a rule with bytes. `sizes` holds each one's
-- bytes, and in the field '' their sum. It is there only while there are any, so that other queues pay a
-- look at nothing.

-- Jobs have joined the set: their ids and sizes in turn.
local function note_sizes(sizes, noted)
  if #noted == 0 then return end
  local all = 0
  for i = 2, #noted, 2 do all = all + noted[i] end
  for i = 2, #noted, 2 do noted[i] = string.format('%.0f', noted[i]) end
  redis.call('HSET', sizes, unpack(noted))
  redis.call('HINCRBY', sizes, '', string.format('%.0f', all))
end

-- Jobs have left it.
local function forget_sizes(sizes, ids)
  if #ids == 0 or redis.call('HLEN', sizes) == 0 then return end
  local freed = 0
  for _, size in ipairs(redis.call('HMGET', sizes, unpack(ids))) do
    freed = freed + (tonumber(size or '0') or 0)
  end
  redis.call('HDEL', sizes, unpack(ids))
  if redis.call('HINCRBY', sizes, '', string.format('%.0f', 0 - freed)) <= 0 then
    redis.call('DEL', sizes)
  end
end

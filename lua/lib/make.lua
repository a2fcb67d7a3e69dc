-- Makes a queue where nothing of one is: `meta` with that version and these further fields, and the
-- sentinels. Answers 1, or a table with `err`. The keys are the fixed ones of a queue, in the order of
-- queue/open.
local function put_sentinels()
  redis.call('SET', KEYS[2], 'echomq:2.0.0')
  redis.call('SET', KEYS[3], 'echomq:2.0.0')
  redis.call('ZADD', KEYS[8], 'inf', sentinel())
end

local function make(version, fields)
  if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9],
    KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18],
    KEYS[19], KEYS[20], KEYS[21], KEYS[22], KEYS[23]) > 0 then
    return redis.error_reply('EMQFENCE expected=' .. version .. ' found=keys of the queue without a meta')
  end
  local made = redis.pcall('HSET', KEYS[1], 'version', version, 'min_revision', '1', 'created', ARGV[2],
    'concurrency', 'echomq:2.0.0', unpack(fields))
  if refused(made) then return refused(made) end
  put_sentinels()
  return 1
end

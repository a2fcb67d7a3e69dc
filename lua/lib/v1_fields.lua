-- Takes out of `meta` what a v1 client adds to it beside its version. Answers how many fields those were.
local function drop_v1_fields()
  return redis.call('HDEL', KEYS[1], 'opts.maxLenEvents', 'paused', 'max', 'duration')
end

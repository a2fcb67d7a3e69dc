-- queue/obliterate: ends a queue that holds no job and no scheduler any more. What is left of its structures
-- goes, and `meta` begins anew: not paused, with the settings of the queue, and with the number of its last
-- event, so that listeners see that they missed some. With `all` everything goes, sentinels and `meta` too.
-- `outbox` is how many entries of the outbox may go: the caller has looked at those, and delivered what is
-- for others.
-- KEYS    meta id repeat wait ghosts prioritized crashed active delayed completed failed
--         waiting_children marker events limiter producers outbox trash subkeys schedules de de_due
--         metrics_completed metrics_failed de_next sizes_completed sizes_failed
-- ARGV    revision now all outbox
-- RETURNS how many jobs are there still, those in trash and schedulers among them, and entries of the outbox
--         that the caller did not see; 0: it is done
-- ERRORS  EMQFENCE
-- COST    O(1): at most 22 calls, two of which read up to 4,096 entries; the memory is given back in the
--         background
-- USES    fence limits
local m = fence()
if m.err then return m end
local noted = redis.call('HMGET', KEYS[5], 'wait', 'crashed')
-- The jobs of a line. When somebody deleted `ghosts` by hand, empty entries pass for jobs: where there are
-- more at the front than are noted, they go.
local function jobs_of_line(line, length, name, known)
  local ghosts = tonumber(known or '0') or 0
  if length > ghosts then
    local run = 0
    for i, id in ipairs(redis.call('LRANGE', line, '0', '4095')) do
      if id == '' and run == i - 1 then run = i end
    end
    if run > ghosts then
      redis.call('LPOP', line, string.format('%.0f', run))
      redis.call('HDEL', KEYS[5], name)
      length, ghosts = length - run, 0
    end
  end
  return math.max(length - ghosts, 0)
end
local waiting, crashed = redis.call('LLEN', KEYS[4]), redis.call('LLEN', KEYS[7])
local jobs = redis.call('ZCARD', KEYS[6]) + redis.call('ZCOUNT', KEYS[8], '-inf', '(inf') +
  redis.call('ZCARD', KEYS[9]) + redis.call('ZCARD', KEYS[10]) + redis.call('ZCARD', KEYS[11]) +
  redis.call('ZCARD', KEYS[12]) + redis.call('SCARD', KEYS[18]) + redis.call('ZCARD', KEYS[20])
local unseen = redis.call('HLEN', KEYS[17]) - tonumber(ARGV[4])
if unseen > 0 then jobs = jobs + unseen end
jobs = jobs + jobs_of_line(KEYS[4], waiting, 'wait', noted[1]) +
  jobs_of_line(KEYS[7], crashed, 'crashed', noted[2])
if jobs > 0 then return jobs end
redis.call('UNLINK', KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13],
  KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18], KEYS[19], KEYS[20], KEYS[21], KEYS[22],
  KEYS[23], KEYS[24], KEYS[25], KEYS[26], KEYS[27])
if ARGV[3] == '1' then
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[8])
else
  redis.call('HDEL', KEYS[1], 'pause', 'priority_seq')
  -- Limits that are none stand there only while the queue is held, which it is no more.
  if m.limits == no_limits() then redis.call('HDEL', KEYS[1], 'limits') end
  redis.call('HSET', KEYS[1], 'created', ARGV[2])
end
return 0

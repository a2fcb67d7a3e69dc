-- job/read_logs: some lines of a job's log, and how many there are.
-- KEYS    meta trash job logs
-- ARGV    revision id first last
-- RETURNS empty when there is no such job; otherwise how many lines are kept, then those from index
--         `first` to `last`, the oldest line being 0
-- ERRORS  EMQFENCE
-- COST    O(lines answered), no write
-- USES    fence
local m = fence()
if m.err then return m end
if redis.call('SISMEMBER', KEYS[2], ARGV[2]) == 1 or redis.call('EXISTS', KEYS[3]) == 0 then
  return {}
end
local answer = { redis.call('LLEN', KEYS[4]) }
local lines = redis.call('LRANGE', KEYS[4], ARGV[3], ARGV[4])
for i, line in ipairs(lines) do answer[1 + i] = line end
return answer

-- deduplication/read: who owns a deduplication id, at one moment. The caller names the owner that it saw and
-- declares its job; of another one it is told `moved`.
-- KEYS    meta completed failed trash de owner
-- ARGV    revision now de seen
-- RETURNS one status (`gone`: nobody); the owner, until when (ms, 0: until the owner is over), the id of the
--         add that is kept
-- STATUS  ok moved gone
-- ERRORS  EMQFENCE
-- COST    O(1): five calls, no write
-- USES    fence dedup
local m = fence()
if m.err then return m end
local e = read_entry(redis.call('HGET', KEYS[5], ARGV[3]))
if not e or (e.expiry > 0 and tonumber(ARGV[2]) >= e.expiry) then return { { 'gone' }, '', 0, '' } end
local status = 'ok'
if not e.held and e.owner ~= ARGV[4] then
  status = 'moved'
elseif not is_owned(e, ARGV[3], KEYS[6], KEYS[2], KEYS[3], KEYS[4]) then
  return { { 'gone' }, '', 0, '' }
end
return { { status }, e.owner, e.expiry, e.kept }

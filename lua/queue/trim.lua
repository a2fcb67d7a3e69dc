-- queue/trim: shortens the stream of events to its newest `keep` entries, by `most` a call, and sets the
-- cap that every later entry keeps, when the caller gives one and nothing is over `keep` any more: so the
-- entry that meets an exact cap for the first time has little to remove.
-- KEYS    meta events
-- ARGV    revision keep most cap trim
-- RETURNS how many entries were removed; how many are left over `keep`
-- ERRORS  EMQFENCE
-- COST    O(most): at most 4 calls
-- USES    fence
local m = fence()
if m.err then return m end
local keep, length = tonumber(ARGV[2]), redis.call('XLEN', KEYS[2])
local least = math.max(keep, length - tonumber(ARGV[3]))
-- A full server allows this write, and after it the rest.
local removed = redis.call('XTRIM', KEYS[2], 'MAXLEN', '=', string.format('%.0f', least))
local left = math.max(0, length - removed - keep)
if left == 0 and ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'event_cap', ARGV[4], 'event_trim', ARGV[5])
end
return { removed, left }

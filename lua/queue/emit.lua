-- queue/emit: writes one event of a caller's own into the stream of events. It stands apart from what the
-- transitions tell: behind the word `custom`. The entry is all that this call is for, so it is refused
-- where it cannot be written, and a full server refuses it as it refuses an add.
-- KEYS    meta events
-- ARGV    revision now name payload
-- RETURNS the number of the entry
-- ERRORS  EMQFENCE EMQFULL
-- COST    O(1): 4 calls
-- USES    fence full
local m = fence()
if m.err then return m end
redis.call('XLEN', KEYS[2])
local seq = redis.pcall('HINCRBY', KEYS[1], 'event_seq', '1')
if refused(seq) then return refused(seq) end
redis.call('XADD', KEYS[2], 'MAXLEN', m.event_trim, m.event_cap, string.format('%.0f', seq) .. '-0',
  'at', ARGV[2], 'custom', ARGV[3], 'payload', ARGV[4])
return seq

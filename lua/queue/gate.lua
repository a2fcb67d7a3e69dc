-- queue/gate: the limits of a queue, and which gate is closed at this moment, as the next claim would find
-- it.
-- KEYS    meta active limiter
-- ARGV    revision now
-- RETURNS gate (open|paused|held|concurrency|rate), when it opens by itself (ms, 0: nobody knows), then
--         concurrency, max, duration, burst, length (0: not limited), and until when the queue is held (0:
--         it is not)
-- ERRORS  EMQFENCE
-- COST    O(1): three calls, no write
-- USES    fence limits gates
local m = fence()
if m.err then return m end
local g = look_at_gates(m, KEYS[2], KEYS[3], tonumber(ARGV[2]))
local gate, opens = closed_gate(g, 0)
if m.paused then
  gate, opens = 'paused', 0
end
return { gate, opens, g.concurrency, g.max, g.duration, g.burst, g.length, g.held_until or 0 }

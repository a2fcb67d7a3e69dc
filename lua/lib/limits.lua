-- The limits of a queue stand in one field of meta, `limits`, so that a queue that has none costs nothing
-- but the look at it: `<concurrency>:<max>:<duration>:<burst>:<length>`, 0 for what is not limited. At most
-- `concurrency` jobs are active; at most `max` are claimed in `duration` ms, by a window where `burst` is
-- 0, else evenly, with `burst` at once; at most `length` wait or are delayed when one is added. A field of
-- another form limits nothing.
local function limits_of(m)
  local concurrency, max, duration, burst, length =
    string.match(m.limits or '', '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
  return tonumber(concurrency or '0'), tonumber(max or '0'), tonumber(duration or '0'),
    tonumber(burst or '0'), tonumber(length or '0')
end

-- What stands there of a queue that is held and has none.
local function no_limits() return '0:0:0:0:0' end

-- Whether `now` lies in the span of that length that began at `from`. The stamps of several clients
-- differ a little, so one from shortly before it counts as its beginning. One from before it by more than
-- its length (a second at least) shows that the clock was set back: then nobody waits for its end.
local function within(now, from, length)
  return from - now <= math.max(length, 1000) and now < from + length
end

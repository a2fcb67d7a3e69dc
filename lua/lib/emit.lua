-- One stream entry for the whole call: `at <ms>`, then for each event its name and the ids, separated by
-- blanks. Ids are dense (a counter in meta), so that a listener sees what it missed. A decoration: it
-- comes last and under pcall, because a broken stream must never tear a transition.
-- The server refuses a number that is not above the last one. Then somebody who numbers by time, a v1 client,
-- has written to the stream, and all events from now on are lost: the version says so to every later call,
-- until queue/repair. This one is done.
local function emit(stream, m, now, first, first_ids, second, second_ids)
  local entry = { 'at', now }
  if #first_ids > 0 then
    entry[3], entry[4] = first, table.concat(first_ids, ' ')
  end
  if second and #second_ids > 0 then
    entry[#entry + 1] = second
    entry[#entry + 1] = table.concat(second_ids, ' ')
  end
  if #entry == 2 then return end
  local seq = redis.pcall('HINCRBY', KEYS[1], 'event_seq', 1)
  if type(seq) ~= 'number' then return end
  local told = redis.pcall('XADD', stream, 'MAXLEN', m.event_trim, m.event_cap,
    string.format('%.0f', seq) .. '-0', unpack(entry))
  if type(told) == 'table' and told.err and string.find(told.err, 'smaller', 1, true) then
    redis.pcall('HSET', KEYS[1], 'version', 'echomq:2.0.0:damaged')
  end
end

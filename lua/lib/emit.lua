-- One stream entry for the whole call: `at <ms>`, then for each event its name and the ids, separated by
-- blanks. Ids are dense (a counter in meta), so that a listener sees what it missed. A decoration: it
-- comes last and under pcall, because a broken stream must never tear a transition.
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
  redis.pcall('XADD', stream, 'MAXLEN', m.event_trim, m.event_cap, string.format('%.0f', seq) .. '-0',
    unpack(entry))
end

-- Which of these ids are held under the leases that the caller presents; needs `held`. Jobs of one claim
-- share a lease, so those that are ended together are found in one look at that score: asking for the
-- score of each costs several times as much. What is not found there (its lease was extended meanwhile) is
-- asked for by its token. `runs` are spans of the ids: `first`, `last`, their `lease` and its `token`.

-- Where all are of one lease, and the first that it holds: nil when they are not, which tells nothing.
local function held_in_order(active, ids, runs)
  local lease = runs[1].lease
  for _, run in ipairs(runs) do
    if run.lease ~= lease then return nil end
  end
  local found = redis.call('ZRANGEBYSCORE', active, lease, lease, 'LIMIT', '0', string.format('%.0f', #ids))
  for i, id in ipairs(ids) do
    if found[i] ~= id then return nil end
  end
  return true
end

-- Answers a list parallel to the ids, and whether all of them are.
local function held_together(active, ids, runs)
  local mine = {}
  if #ids > 1 and held_in_order(active, ids, runs) then return mine, true end
  local together, holder, rest, rest_tokens, place = {}, {}, {}, {}, {}
  for _, run in ipairs(runs) do
    together[run.lease] = (together[run.lease] or 0) + run.last - run.first + 1
  end
  for _, run in ipairs(runs) do
    local lease = run.lease
    if together[lease] > 1 then
      local found = redis.call('ZRANGEBYSCORE', active, lease, lease, 'LIMIT', '0',
        string.format('%.0f', 2 * together[lease]))
      for _, id in ipairs(found) do holder[id] = lease end
    end
    together[lease] = 0
  end
  for _, run in ipairs(runs) do
    for i = run.first, run.last do
      local id = ids[i]
      mine[i] = holder[id] == run.lease
      if mine[i] then
        holder[id] = '' -- named twice in one call, a claim ends once
      elseif holder[id] ~= '' then
        local n = #rest + 1
        rest[n], rest_tokens[n], place[n] = id, run.token, i
      end
    end
  end
  if #rest > 0 then
    for i, is_mine in ipairs(held(active, rest, rest_tokens)) do mine[place[i]] = is_mine end
  end
  return mine, false
end

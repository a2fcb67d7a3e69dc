-- Taking an id out of a line (`wait` or `crashed`), wherever it stands, without a look at all of it. A place
-- in the middle is left behind as a ghost: an empty entry that claims drop (`ghosts` counts those of a line).

-- The index of an id, looked for around the place where the caller saw it (below 0: nowhere) and near
-- both ends; false when it is not there.
local function find_in_line(line, id, seen)
  local at = tonumber(seen)
  if at >= 0 then
    local from = at > 256 and at - 256 or 0
    local near = redis.call('LRANGE', line, string.format('%.0f', from),
      string.format('%.0f', from + 512))
    for i, there in ipairs(near) do
      if there == id then return from + i - 1 end
    end
  end
  local front = redis.call('LPOS', line, id, 'MAXLEN', '256')
  if front then return front end
  return redis.call('LPOS', line, id, 'RANK', '-1', 'MAXLEN', '256')
end

-- `name` is the line's in `ghosts`.
local function drop_from_line(line, ghosts, name, at)
  local behind = redis.call('LLEN', line) - at
  redis.call('LSET', line, string.format('%.0f', at), '')
  -- All ghosts are alike, so the nearest one to that end may go as well.
  if at < 512 then
    redis.call('LREM', line, '1', '')
  elseif behind <= 512 then
    redis.call('LREM', line, '-1', '')
  else
    redis.call('HINCRBY', ghosts, name, 1)
  end
end

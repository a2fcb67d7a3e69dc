-- Where a ready job waits. One that has been through a crash goes to `crashed`, from which a process
-- takes one at a time; one with a place (its score in `prioritized`, kept in its hash) goes back to that
-- place; any other to the back of `wait`, or to its front.
local function new_lanes()
  return { back = {}, front = {}, placed = {}, crashed = {} }
end

local function sort_into(lanes, id, place, crashes, front)
  -- What is no number reads as absent: an odd field must not tear the transition.
  if (tonumber(crashes or '0') or 0) > 0 then
    lanes.crashed[#lanes.crashed + 1] = id
  elseif tonumber(place or '') then
    lanes.placed[#lanes.placed + 1] = place
    lanes.placed[#lanes.placed + 1] = id
  elseif front then
    lanes.front[#lanes.front + 1] = id
  else
    lanes.back[#lanes.back + 1] = id
  end
end

-- Writes the lanes. `front` goes in one by one, so the last of it is taken first. Wakes one idle worker
-- (which wakes the next), unless the queue is paused.
local function put_ready(lanes, m, wait, prioritized, crashed, marker)
  local any = false
  if #lanes.back > 0 then
    redis.call('RPUSH', wait, unpack(lanes.back))
    any = true
  end
  if #lanes.front > 0 then
    redis.call('LPUSH', wait, unpack(lanes.front))
    any = true
  end
  if #lanes.placed > 0 then
    redis.call('ZADD', prioritized, unpack(lanes.placed))
    any = true
  end
  if #lanes.crashed > 0 then
    redis.call('RPUSH', crashed, unpack(lanes.crashed))
    any = true
  end
  if any and not m.paused then redis.pcall('ZADD', marker, '0', '0') end
end

-- When somebody has to look at an entry of `de`: at its end, or where that has no time, after half a minute
-- while an add is kept and after an hour otherwise.
local function due_of(e, now)
  if e.expiry > 0 then return string.format('%.0f', e.expiry) end
  return string.format('%.0f', tonumber(now) + (e.kept ~= '' and 30000 or 3600000))
end

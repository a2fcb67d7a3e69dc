-- What the ticks of a scheduler left behind, in the field `ran` of its hash: `<last>:<made>:<skipped>:<job>`,
-- the last tick (ms), how many jobs were made, how many ticks were skipped, and the id of the last job. One
-- of another form reads as one that says nothing.
local function read_ran(text)
  local last, made, skipped, job = string.match(text or '', '^(%d+):(%d+):(%d+):(.*)$')
  if not last then return { last = 0, made = 0, skipped = 0, job = '' } end
  return { last = tonumber(last), made = tonumber(made), skipped = tonumber(skipped), job = job }
end

local function ran_text(r)
  return string.format('%.0f:%.0f:%.0f:', r.last, r.made, r.skipped) .. r.job
end

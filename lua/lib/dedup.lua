-- Who owns a deduplication id. An entry of `de` is `<owner>:<until>:<held>:<kept>`: the id of the job that
-- owns it; until when, ms (0: until that job is over); 1 when it holds without the job, which has ended; the
-- id of the add that is kept until the owner is over. An entry of another form is none.
local function read_entry(text)
  local owner, expiry, held, kept = string.match(text or '', '^([^:]+):(%d+):([01]):([^:]*)$')
  if not owner then return nil end
  return { owner = owner, expiry = tonumber(expiry), held = held == '1', kept = kept }
end

local function entry_text(e)
  return e.owner .. ':' .. string.format('%.0f', e.expiry) .. ':' .. (e.held and '1' or '0') .. ':' .. e.kept
end

-- An owner holds an id as long as its job is there and has not ended; for a time, even when it has ended.
local function is_owned(e, de, owner, completed, failed, trash)
  if e.held then return true end
  if redis.pcall('HGET', owner, 'deid') ~= de then return false end
  if e.expiry > 0 then return true end
  return not redis.call('ZSCORE', completed, e.owner) and not redis.call('ZSCORE', failed, e.owner) and
    redis.call('SISMEMBER', trash, e.owner) == 0
end

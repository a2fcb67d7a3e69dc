-- Those of the ids that have keys beside their hash. Whoever writes a sub-key notes its job in the set, so
-- that deleting the many jobs that have none costs one key each.
local function with_subkeys(set, ids)
  local with = {}
  if #ids == 0 or redis.call('SCARD', set) == 0 then return with end
  local noted = redis.call('SMISMEMBER', set, unpack(ids))
  for i, id in ipairs(ids) do
    if noted[i] == 1 then with[#with + 1] = id end
  end
  return with
end

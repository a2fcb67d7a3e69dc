-- Which of these ids are held under the token that the caller presents? The token is the lease without
-- its deadline (score mod 2^21), so that an extension never makes a finish of the same run look foreign.
-- `tokens` runs parallel to `ids`. Answers a parallel list of booleans. Reading it also proves that
-- `active` has the right type before anything is written.
local function held(active, ids, tokens)
  local scores = redis.call('ZMSCORE', active, unpack(ids))
  local mine, seen = {}, {}
  local last, token
  for i = 1, #ids do
    local score = scores[i]
    if score and score ~= last then -- jobs of one claim share a score
      last, token = score, string.format('%.0f', tonumber(score) % 2097152)
    end
    mine[i] = score and token == tokens[i] and not seen[ids[i]] or false
    if mine[i] then seen[ids[i]] = true end -- named twice in one call, a claim ends once
  end
  return mine
end

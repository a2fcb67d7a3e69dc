-- The fields of a hash as one argument: `<fields>:`, then for each `<bytes of name>:<bytes of value>:<name>
-- <value>`, without the blank. Answers names and values in turn; false where it has another form.
local function read_fields(text)
  local count, at = string.match(text, '^(%d+):()')
  if not count then return false end
  local flat = {}
  for i = 1, tonumber(count) do
    local name, value, from = string.match(text, '^(%d+):(%d+):()', at)
    if not name then return false end
    at = from + tonumber(name)
    flat[2 * i - 1] = string.sub(text, from, at - 1)
    flat[2 * i] = string.sub(text, at, at + tonumber(value) - 1)
    at = at + tonumber(value)
  end
  return flat
end

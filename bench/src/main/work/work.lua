-- Calls, tables, strings and sorting, for some seconds. The output is the same on every run.
local rounds = tonumber(arg[1])

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function words(seed)
  local count = {}
  for i = 1, 60000 do
    seed = (seed * 16807) % 2147483647
    local word = string.format("%x", seed % 5000)
    count[word] = (count[word] or 0) + #word
  end
  local keys = {}
  for word in pairs(count) do keys[#keys + 1] = word end
  table.sort(keys)
  return #table.concat(keys, " "):gsub("a", "bb")
end

local sum = 0
for round = 1, rounds do
  sum = sum + fib(24) + words(round)
end
print(sum)

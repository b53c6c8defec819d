-- Errors through C and through coroutines, callbacks from C, collected cycles, finalizers.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function tree(n) if n == 0 then return {} end local t = {tree(n - 1), tree(n - 1)} t.self = t return t end
local sum = 0
for round = 1, 150 do
  for i = 1, 300 do
    local ok, e = pcall(error, "x" .. i)
    sum = sum + #e
    local co = coroutine.wrap(function(x)
      local y = coroutine.yield(x + 1)
      if i % 7 == 0 then error({y}) end
      return y + coroutine.yield(fib(5))
    end)
    sum = sum + co(i)
    local ok2, r = pcall(co, i * 3)
    if ok2 then sum = sum + r if i % 5 ~= 0 then sum = sum + co(2) end else sum = sum + r[1] end
    sum = sum + select(2, xpcall(function() local n = nil; return n.x end, function(m) return #m end))
  end
  local words = {}
  for i = 1, 1500 do words[i] = tostring(i * 7919 % 50021) end
  table.sort(words, function(a, b) return a:reverse() < b:reverse() end)
  sum = sum + #(table.concat(words, " "):gsub("%d+", function(m) return m:reverse() end)) + tonumber(words[1])
  tree(9)
  if round % 10 == 0 then collectgarbage() end
  sum = (sum + fib(18)) % 1000000007
end
print("sum", sum)
os.exit(6)

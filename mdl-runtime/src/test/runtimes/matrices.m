% Errors with cleanup, matrices, cells, closures, regular expressions.
1;
function r = fib(n) if n < 2 r = n; else r = fib(n - 1) + fib(n - 2); end end
function r = fall(depth, kind)
  unwind_protect
    if depth > 0 r = fall(depth - 1, kind); elseif mod(kind, 3) == 0 error("thrown %d", kind); else r = kind; end
  unwind_protect_cleanup
    global closed; closed++;
  end_unwind_protect
end
global closed; closed = 0; total = 0;
for r = 1:20
  for i = 1:60
    try
      total += fall(mod(i, 8), i);
    catch e
      total += length(e.message);
    end_try_catch
  end
  m = mod(reshape((1:10000) * 7919, 100, 100), 101);
  total += mod(sum((m * m')(:)), 1e6) + round(abs(det(eye(20) * 2)));
  words = arrayfun(@(i) sprintf("%d", mod(i * 7919, 50021)), 1:400, "UniformOutput", false);
  total += length(regexprep(strjoin(sort(words), ","), '[0-4]+', 'x')) + sum(cellfun(@numel, words));
  total += fib(11) + round(fzero(@(x) x - r, [0, 100]));
  total = mod(total, 1000000007);
end
printf("sum %d %d\n", total, closed);
exit(6);

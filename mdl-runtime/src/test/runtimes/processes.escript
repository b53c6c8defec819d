#!/usr/bin/env escript
%% Processes, messages, exceptions, binaries, natively compiled code.
-mode(compile).
main(_) ->
    Sum = lists:foldl(fun(Round, Sum) -> round(Round, Sum) end, 0, lists:seq(1, 120)),
    io:format("sum ~p~n", [Sum]),
    halt(6).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
tree(0) -> nil;
tree(N) -> {tree(N - 1), integer_to_list(N), tree(N - 1)}.
count(nil) -> 0;
count({L, V, R}) -> 1 + count(L) + length(V) + count(R).
round(_Round, Sum) ->
    Self = self(),
    Pids = [spawn(fun() -> Self ! {self(), fib(12) + N} end) || N <- lists:seq(1, 50)],
    Got = lists:sum([receive {P, V} -> V end || P <- Pids]),
    Caught = lists:sum([try if N rem 3 == 0 -> throw({n, N}); N rem 7 == 0 -> error(N); true -> N end
                        catch throw:{n, X} -> X * 2; error:X -> X * 3 end || N <- lists:seq(1, 500)]),
    Words = lists:sort([integer_to_binary(N * 7919 rem 50021) || N <- lists:seq(1, 2000)]),
    Hash = erlang:crc32(Words),
    Re = length(re:split(iolist_to_binary(lists:join(",", Words)), "[,9]+")),
    (Sum + Got + Caught + Hash + Re + count(tree(11)) + maps:size(maps:from_list([{W, 1} || W <- Words]))) rem 1000000007.

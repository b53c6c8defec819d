% Backtracking, exceptions, findall, strings, global variables, threads, collections.
:- initialization(main, main).
fib(N, N) :- N < 2, !.
fib(N, F) :- A is N - 1, B is N - 2, fib(A, FA), fib(B, FB), F is FA + FB.
queens(N, Qs) :- numlist(1, N, Ns), permutation(Ns, Qs), safe(Qs).
safe([]). safe([Q | Qs]) :- no_attack(Q, Qs, 1), safe(Qs).
no_attack(_, [], _). no_attack(Q, [Q1 | Qs], D) :- abs(Q - Q1) =\= D, D1 is D + 1, no_attack(Q, Qs, D1).
fall(0, K) :- !, ( 0 is K mod 3 -> throw(thrown(K)) ; true ).
fall(D, K) :- D1 is D - 1, setup_call_cleanup(true, fall(D1, K), true).
round(R, S) :-
    findall(X, ( between(1, 200, I), D is I mod 10, catch(( fall(D, I), X = 1 ), thrown(T), X = T) ), Xs), sum_list(Xs, S1),
    findall(W, ( between(1, 1000, I), V is I * 7919 mod 50021, atom_number(W, V) ), Ws), msort(Ws, Sorted), atomic_list_concat(Sorted, ',', All), atom_length(All, S2),
    queens(6, Qs), foldl([Q, A, B]>>( B is A * 7 + Q ), Qs, 0, S3), fib(17, S4),
    thread_create(fib(12, _), Id), thread_join(Id, true),
    ( 0 is R mod 5 -> garbage_collect ; true ), S is S1 + S2 + S3 + S4.
main :- findall(S, ( between(1, 40, R), round(R, S) ), Ss), sum_list(Ss, T), format("sum ~d~n", [T]), halt(6).

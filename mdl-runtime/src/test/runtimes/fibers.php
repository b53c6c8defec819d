<?php
// Fibers that are resumed, left suspended and that throw; generators, exceptions, callbacks from C, collected cycles.
function fib(int $n): int { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function tree(int $n) { $o = new stdClass; $o->self = $o; $o->left = $n ? tree($n - 1) : null; $o->right = $n ? tree($n - 1) : null; return $o; }
function numbers(int $n) { for ($i = 0; $i < $n; $i++) { yield $i => yield $i * 2; } }
$sum = 0;
for ($round = 0; $round < 30; $round++) {
    for ($i = 0; $i < 300; $i++) {
        $fiber = new Fiber(function (int $x) use ($i): int {
            $got = Fiber::suspend($x + 1);
            if ($i % 7 == 0) throw new RuntimeException("thrown $got");
            return $got + Fiber::suspend(fib(5));
        });
        $sum += $fiber->start($i);
        try {
            $sum += $fiber->resume($i * 3);
            if ($i % 5 != 0) { $fiber->resume(2); $sum += $fiber->getReturn(); }
        } catch (RuntimeException $e) {
            $sum += strlen($e->getMessage());
        }
    }
    foreach (numbers(1000) as $k => $v) { $sum += $v; }
    $words = array_map(fn($x) => md5("w$x"), range(0, 1500));
    usort($words, fn($a, $b) => strcmp($a, $b));
    $sum += hexdec(substr($words[10], 0, 4)) + strlen(preg_replace_callback('/[a-f]+/', fn($m) => strrev($m[0]), implode(' ', $words)));
    tree(9);
    if ($round % 10 == 0) gc_collect_cycles();
    $sum = ($sum + fib(17)) % 1000000007;
}
echo "sum $sum\n";
exit(6);

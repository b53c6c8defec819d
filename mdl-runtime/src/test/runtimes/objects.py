# Exceptions, generators, callbacks from C, threads, collected cycles, ctypes.
import collections, ctypes, gc, hashlib, json, re, sys, threading
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def tree(n): return None if n == 0 else (tree(n - 1), "n%d" % n, tree(n - 1))
def count(t): return 0 if t is None else 1 + count(t[0]) + len(t[1]) + count(t[2])
def numbers(n):
    for i in range(n): yield i * 2
class Cycle:
    def __init__(self): self.own = self
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
total = 0
for r in range(60):
    for i in range(300):
        try:
            if i % 3 == 0: raise ValueError("v%d" % i)
            [][i]
        except (ValueError, IndexError) as e: total += len(str(e))
    total += sum(numbers(1000)) + count(tree(11)) + fib(17)
    words = sorted((str(i * 7919 % 50021) for i in range(3000)), key=lambda w: w[::-1])
    total += len(re.sub(r"\d+", lambda m: m.group()[::-1], " ".join(words))) + len(json.loads(json.dumps(words)))
    total += int(hashlib.md5("".join(words).encode()).hexdigest()[:5], 16)
    array = (ctypes.c_int * 200)(*[i * 7919 % 1009 for i in range(200)])
    ctypes.CDLL(None).qsort(array, 200, 4, compare(lambda a, b: a[0] - b[0]))
    total += sum(i * x for i, x in enumerate(array))
    parts = [0] * 4
    def work(t): parts[t] = count(tree(7)) + t
    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    total = (total + sum(parts)) % 1000000007
    for i in range(500): Cycle()
    if r % 5 == 0: gc.collect()
print("sum", total)
sys.exit(6)

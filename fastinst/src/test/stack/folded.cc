// Two functions of the same code, of which the linker keeps one: `gold --icf=all`. The code does not say whether the
// caller has put arguments on the stack; the name that others may call by says that it has not.
using in_registers = long (*)(void **);
using seventh = long (*)(void **, int, int, int, int, int, int);

long plain_folded(void **p) { return reinterpret_cast<in_registers>(*p)(p); }

__attribute__((noinline, visibility("hidden"))) long takes_folded(void **p, int a, int b, int c, int d, int e, int f) {
  return reinterpret_cast<seventh>(*p)(p, a, b, c, d, e, f);
}

long plain_caller(void **p) { return takes_folded(p, 1, 2, 3, 4, 5, 6) + 1; }

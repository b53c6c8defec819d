/* What host.c opens. Its constructor calls functions too. */
__attribute__((noinline)) static unsigned leaf(unsigned n) { return n * 2654435761u ^ n >> 3; }
__attribute__((noinline)) static void begin(void) { leaf(1); }

unsigned work(unsigned n);
unsigned work(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n % 4; i++) sum += leaf(n + i);
  return sum;
}

/* Called by nobody but a forked process, when its parent has closed and opened the library. */
unsigned later(unsigned n);
unsigned later(unsigned n) { return n + 1; }

__attribute__((constructor)) static void constructor(void) { begin(); }

/* Three phases that take turns, of 0.3 to 1.7 s: what is called, how often, and how long it takes differs. */
#include "truth.h"

enum { READ, DECODE, STEP, FLUSH, SCAN, FUNCTIONS };

volatile uint64_t sink;

/* In the first phase a tenth of what it takes in the second. */
NOINLINE static uint64_t read_block(uint64_t x, int size) {
  TIMED(READ);
  return spun(x, size);
}

NOINLINE static uint64_t decode(uint64_t x) {
  TIMED(DECODE);
  return spun(x, 80);
}

NOINLINE static uint64_t step(uint64_t x) {
  TIMED(STEP);
  return spun(x, 25);
}

NOINLINE static uint64_t flush(uint64_t x) {
  TIMED(FLUSH);
  nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
  return spun(x, 20000);
}

NOINLINE static uint64_t scan(uint64_t x, int phase) {
  TIMED(SCAN);
  switch (phase) {
    case 0:
      for (int i = 0; i < 50; i++) {
        x = decode(read_block(x, 400));
      }
      return x;
    case 1:
      for (int i = 0; i < 2000; i++) {
        x = step(x);
      }
      return x;
    default:
      return flush(read_block(x, 4000));
  }
}

int main(int count, char **arguments) {
  static const char *const names[FUNCTIONS] = {"read_block", "decode", "step", "flush", "scan"};
  double seconds = truth_begin(count, arguments, names, FUNCTIONS);
  truth_open();
  uint64_t x = (uint64_t)__rdtsc() | 1;
  double now = 0;
  for (int phase = 0; now < seconds; phase = (phase + 1) % 3) {
    x = spun(x, 1);
    double end = now + 0.3 + (double)(x % 1400) / 1000;
    end = end < seconds ? end : seconds;
    while (now < end) {
      x = scan(x, phase);
      now = truth_seconds();
    }
  }
  sink = x;
  truth_close();
  truth_end(arguments[2]);
}

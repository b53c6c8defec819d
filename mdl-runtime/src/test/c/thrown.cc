// Metrics call `thrower`, whose exceptions go on to the callers of the functions with probes, as if these had thrown them.
#include <cstdio>
#include <stdexcept>

static long calls;
static long caught;

extern "C" __attribute__((used, noinline)) long thrower(long period) {
  if (++calls % period == 0) {
    throw std::runtime_error("by the function that is called");
  }
  return 1;
}

extern "C" __attribute__((noinline, noclone)) long step(long number) {
  __asm__ volatile("" : "+r"(number));
  return number + 1;
}

// The compiler does not know that it throws nothing.
static long (*volatile unknown)(long) = step;

int main() {
  long times;
  std::puts("ready");
  std::fflush(stdout);
  while (std::scanf("%ld", &times) == 1) {
    for (long i = 0; i < times; i++) {
      try {
        unknown(i);
      } catch (const std::exception &) {
        caught++;
      }
    }
    std::printf("%ld %ld\n", calls, caught);
    std::fflush(stdout);
  }
}

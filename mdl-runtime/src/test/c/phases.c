/* Idle, then 50 million calls a second of a function that does nothing, then idle. Usage: phases MILLISECONDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t calls;

__attribute__((noinline)) void called(void) {
  calls++;
  __asm__ volatile("");
}

__attribute__((no_instrument_function)) static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

__attribute__((no_instrument_function)) int main(int count, char **words) {
  uint64_t nanos = strtoull(words[1], NULL, 10) * 1000000;
  struct timespec phase = {(time_t)(nanos / 1000000000), (long)(nanos % 1000000000)};
  nanosleep(&phase, NULL);
  puts("hot");
  fflush(stdout);
  uint64_t start = now();
  for (uint64_t time = start; time - start < nanos; time = now()) {
    while (calls < (time - start) / 20) {
      called();
    }
  }
  puts("idle");
  fflush(stdout);
  nanosleep(&phase, NULL);
  return 0;
}

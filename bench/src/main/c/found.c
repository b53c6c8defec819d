/*
 * Forty thousand functions that are called at random, and one that has a tenth of the time from the moment when a line is
 * read. A line of the output says that it has begun; before, others have its time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef uint64_t function(uint64_t);
extern function *const functions[];
extern const uint64_t function_count;

volatile uint64_t sink;
static volatile int hot_begins;

enum { BATCH = 90, TIMES = 10 };

/* Takes as long as TIMES others, which are in no cache: warm, each takes 64 rounds. */
__attribute__((noinline)) uint64_t hot(uint64_t x) {
  __asm__("mov $1100, %%ecx\n1: imul $1103515245, %0, %0\n add $12345, %0\n dec %%ecx\n jnz 1b" : "+r"(x) : : "ecx", "cc");
  return x;
}

static void *wait_for_line(void *unused) {
  (void)unused;
  getchar();
  hot_begins = 1;
  return NULL;
}

int main(void) {
  pthread_t thread;
  uint64_t x = 1;
  int told = 0;
  pthread_create(&thread, NULL, wait_for_line, NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  for (;;) {
    for (int i = 0; i < BATCH; i++) {
      x = functions[(x >> 20) % function_count](x);
    }
    if (hot_begins) {
      if (!told) {
        told = 1;
        puts("hot");
      }
      x = hot(x);
    } else {
      for (int i = 0; i < TIMES; i++) {
        x = functions[(x >> 20) % function_count](x);
      }
    }
    sink = x;
  }
}

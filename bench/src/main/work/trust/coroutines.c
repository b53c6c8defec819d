/* Coroutines with stacks of their own, which take turns on one thread. */
#include <ucontext.h>

#include "truth.h"

enum { COROUTINES = 16, STACK = 64 << 10 };
enum { TASK, PART, COMPUTE, FUNCTIONS };

static ucontext_t scheduler, contexts[COROUTINES];
static struct timed *stacks[COROUTINES];
static int running;
static double seconds;
volatile uint64_t sink;

UNPROBED static void yield(void) {
  stacks[running] = truth_current;
  swapcontext(&contexts[running], &scheduler);
}

NOINLINE static uint64_t compute(uint64_t x) {
  TIMED(COMPUTE);
  return spun(x, 300 + (int)(x % 300));
}

/* Others run in the midst of it. */
NOINLINE static uint64_t part(uint64_t x) {
  TIMED(PART);
  x = compute(x);
  yield();
  return compute(x);
}

NOINLINE static uint64_t task(uint64_t x) {
  TIMED(TASK);
  for (int i = 0; i < 10; i++) {
    x = part(x);
  }
  return x;
}

UNPROBED static void coroutine(void) {
  uint64_t x = (uint64_t)running + 1;
  while (truth_seconds() < seconds) {
    x = task(x) | 1;
  }
  sink = x;
}

int main(int count, char **arguments) {
  static const char *const names[FUNCTIONS] = {"task", "part", "compute"};
  seconds = truth_begin(count, arguments, names, FUNCTIONS);
  truth_open();
  int left = COROUTINES;
  for (int i = 0; i < COROUTINES; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = malloc(STACK);
    contexts[i].uc_stack.ss_size = STACK;
    contexts[i].uc_link = &scheduler;
    makecontext(&contexts[i], coroutine, 0);
  }
  for (int i = 0; left > 0; i = (i + 1) % COROUTINES) {
    if (contexts[i].uc_link) {
      running = i;
      truth_current = stacks[i];
      stacks[i] = NULL;
      swapcontext(&scheduler, &contexts[i]);
      if (!stacks[i]) { /* it has ended */
        contexts[i].uc_link = NULL;
        left--;
      }
    }
  }
  truth_current = NULL;
  truth_close();
  truth_end(arguments[2]);
}

/* Calls leaf() from two functions, from threads, from a signal handler at any instruction, and from more places than a table of
 * callers has room for in a list, and prints for each caller how often. A caller that is left by longjmp comes back to leaf(). */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#define NO_PROBES __attribute__((no_instrument_function, patchable_function_entry(0)))

static __thread volatile long sink;
static volatile sig_atomic_t ticks;
static jmp_buf back;

__attribute__((noipa)) void leaf(long x) { sink += x; }
__attribute__((noipa)) void often(long x) {
  leaf(x);
  sink++;
}
__attribute__((noipa)) void seldom(long x) {
  leaf(x);
  sink++;
  leaf(x + 1);
  sink++;
}
__attribute__((noipa)) void recurses(long depth) {
  if (depth > 0) recurses(depth - 1);
  sink++;
  leaf(depth);
  sink++;
}
__attribute__((noipa)) void jumps(long x) {
  leaf(x);
  longjmp(back, 1);
}
__attribute__((noipa)) void handles(void) {
  leaf(1);
  sink++;
}

#define TWICE(x) x x
#define SIXTEEN(x) TWICE(TWICE(TWICE(TWICE(x))))
/* 2,048 places. */
__attribute__((noipa)) void everywhere(long x) {
  SIXTEEN(SIXTEEN(TWICE(TWICE(TWICE(leaf(x); sink++;)))))
}

NO_PROBES static void on_tick(int number) {
  (void)number;
  handles();
  ticks++;
}

NO_PROBES static void *body(void *unused) {
  (void)unused;
  for (long i = 0; i < 50000; i++) {
    often(i);
    if (i % 4 == 0) seldom(i);
  }
  return NULL;
}

NO_PROBES int main(void) {
  /* Handlers run in this thread alone, and after its first call: one that interrupts a thread's first call is not recorded. */
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, body, NULL);
  often(0);
  signal(SIGALRM, on_tick);
  struct itimerval every = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &every, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  body(NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 100; i++) recurses(9);
  for (volatile int i = 0; i < 1000; i++) {
    if (!setjmp(back)) jumps(i);
  }
  for (int i = 0; i < 20; i++) everywhere(i);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  printf("often 200001\nseldom 100000\nrecurses 1000\njumps 1000\neverywhere 40960\nhandles %d\n", (int)ticks);
  return 0;
}

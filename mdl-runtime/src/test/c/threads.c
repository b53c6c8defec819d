/* Recursion, siblings, longjmp and threads: prints the calls of each function that it made, for comparison with the report. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 2000

static __thread volatile long sink;
static __thread jmp_buf target;

__attribute__((noinline)) void leaf(long x) { sink += x; }
__attribute__((noinline)) void sibling(long x) { leaf(x + 1); }
__attribute__((noinline)) long recurse(int depth) { return depth == 0 ? sink : recurse(depth - 1) + 1; }
__attribute__((noinline)) void jumps(int depth) {
  if (depth == 0) longjmp(target, 1);
  jumps(depth - 1);
  sink++;
}
__attribute__((noinline)) void catches(void) {
  if (setjmp(target) == 0) jumps(5);
}

static void *body(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    sibling(i);
    recurse(10);
    catches();
  }
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, body, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  long n = THREADS * ROUNDS;
  printf("leaf %ld\nsibling %ld\nrecurse %ld\njumps %ld\ncatches %ld\nbody %d\nmain 1\n", n, n, n * 11, n * 6, n, THREADS);
  return 0;
}

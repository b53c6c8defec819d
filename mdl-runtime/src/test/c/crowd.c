/* crowd THREADS CALLS: THREADS threads run at the same time, and each calls work CALLS times; prints the sum of calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t all;
static long calls;
__attribute__((noinline)) int work(int n) { return n + 1; }
__attribute__((no_instrument_function)) static void *run(void *unused) {
  (void)unused;
  volatile int sum = 0;
  for (long i = 0; i < calls; i++) sum = work(sum);
  pthread_barrier_wait(&all);
  return NULL;
}
int main(int argc, char **argv) {
  (void)argc;
  int n = atoi(argv[1]);
  calls = atol(argv[2]);
  pthread_barrier_init(&all, NULL, (unsigned)n + 1);
  pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536);
  pthread_t *t = malloc(sizeof *t * (size_t)n);
  for (int i = 0; i < n; i++) if (pthread_create(&t[i], &a, run, NULL)) { puts("no thread"); return 2; }
  pthread_barrier_wait(&all);
  for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
  printf("%ld\n", n * calls);
  return 0;
}

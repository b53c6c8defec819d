/* A hundred functions that as many threads as the argument says call at the same time, each a thousand times; one that a forked child
 * calls; and a hundred that nobody calls. Says "done", and ends with its input. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FUNCTIONS = 100, ROUNDS = 1000, THREADS_MAX = 64 };

#define TEN(one, n) one(n##0) one(n##1) one(n##2) one(n##3) one(n##4) one(n##5) one(n##6) one(n##7) one(n##8) one(n##9)
#define HUNDRED(one) \
  TEN(one, 0) TEN(one, 1) TEN(one, 2) TEN(one, 3) TEN(one, 4) TEN(one, 5) TEN(one, 6) TEN(one, 7) TEN(one, 8) TEN(one, 9)
#define CALLED(n) __attribute__((noinline, noclone)) void called_##n(void) { sink += 1##n; }
#define UNCALLED(n) __attribute__((noinline, noclone)) void uncalled_##n(void) { sink -= 1##n; }
#define NAME_CALLED(n) called_##n,
#define NAME_UNCALLED(n) uncalled_##n,

static __thread volatile long sink;
static pthread_barrier_t barrier;

HUNDRED(CALLED)
HUNDRED(UNCALLED)
__attribute__((noinline, noclone)) void called_in_child(void) { sink++; }

static void (*const called[])(void) = {HUNDRED(NAME_CALLED)};
void (*const uncalled[])(void) = {HUNDRED(NAME_UNCALLED)};

static void *body(void *number) {
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < FUNCTIONS; i++) called[(i + round * (intptr_t)number) % FUNCTIONS]();
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS_MAX];
  int count = atoi(argv[1]);
  pthread_barrier_init(&barrier, NULL, count);
  for (intptr_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, body, (void *)i);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {
    called_in_child();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  puts("done");
  fflush(stdout);
  while (getchar() != EOF) {}
  return 0;
}

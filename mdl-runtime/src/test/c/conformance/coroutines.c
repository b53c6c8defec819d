/* Coroutines on stacks of their own: each is suspended deep in probed frames, and resumed by the other thread. */
#include "counted.h"

#include <pthread.h>
#include <ucontext.h>

#define COROUTINES 6
#define ROUNDS 40
#define STACK (256 * 1024)

struct coroutine {
  ucontext_t own, *resumer;
  long value;
  int done;
};

static struct coroutine coroutines[COROUTINES];
static pthread_barrier_t barrier;

PROBED void yield(struct coroutine *self) {
  COUNTED;
  swapcontext(&self->own, self->resumer);
}

PROBED long climb(struct coroutine *self, long depth) {
  COUNTED;
  long before = self->value;
  if (depth % 3 == 0) yield(self);
  long above = depth == 0 ? 1 : climb(self, depth - 1);
  OPAQUE(above);
  if (depth % 4 == 0) yield(self);
  return above * 3 + before % 7 + depth;
}

PROBED void run_coroutine(int index) {
  COUNTED;
  struct coroutine *self = &coroutines[index];
  self->value = index;
  self->value = climb(self, 10 + index);
  self->done = 1;
  /* Returning would go on in uc_link, whichever thread has set it first. */
  yield(self);
}

PROBED void resume(struct coroutine *coroutine) {
  COUNTED;
  ucontext_t here;
  coroutine->resumer = &here;
  swapcontext(&here, &coroutine->own);
}

PROBED void *work(void *parity) {
  COUNTED;
  for (long round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < COROUTINES; i++) {
      if ((i + round) % 2 == (long)parity && !coroutines[i].done) resume(&coroutines[i]);
    }
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  COUNTED;
  pthread_t threads[2];
  pthread_barrier_init(&barrier, NULL, 2);
  for (int i = 0; i < COROUTINES; i++) {
    getcontext(&coroutines[i].own);
    coroutines[i].own.uc_stack.ss_sp = malloc(STACK);
    coroutines[i].own.uc_stack.ss_size = STACK;
    makecontext(&coroutines[i].own, (void (*)(void))run_coroutine, 1, i);
  }
  for (long t = 0; t < 2; t++) pthread_create(&threads[t], NULL, work, (void *)t);
  for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
  for (int i = 0; i < COROUTINES; i++) printf("%d %ld\n", coroutines[i].done, coroutines[i].value);
  return 0;
}

/* Threads that end below many frames, by pthread_exit: clean-up handlers and the destructors of keys run after that. */
#include "counted.h"

#include <pthread.h>

static pthread_key_t key;
static _Atomic long cleaned, released;

PROBED long count_down(long n) {
  COUNTED;
  long below = n == 0 ? 0 : count_down(n - 1);
  OPAQUE(below);
  return below + 1;
}

PROBED void clean(void *depth) {
  COUNTED;
  cleaned += (long)depth;
}

PROBED void release(void *unused) {
  COUNTED;
  released += count_down(5) + (unused == NULL);
}

PROBED long leave(long depth) {
  COUNTED;
  long below = 0;
  if (depth == 1) pthread_exit(&key);
  if (depth % 2) {
    pthread_cleanup_push(clean, (void *)depth);
    below = leave(depth - 1);
    pthread_cleanup_pop(0);
  } else {
    below = leave(depth - 1);
  }
  OPAQUE(below);
  return below + depth;
}

PROBED void *body(void *depth) {
  COUNTED;
  pthread_setspecific(key, &key);
  return (void *)leave((long)depth);
}

int main(void) {
  COUNTED;
  pthread_key_create(&key, release);
  for (long i = 0; i < 10; i++) {
    pthread_t threads[4];
    for (long t = 0; t < 4; t++) pthread_create(&threads[t], NULL, body, (void *)(10 + 10 * t));
    for (long t = 0; t < 4; t++) {
      void *result;
      pthread_join(threads[t], &result);
      printf("%d", result == &key);
    }
  }
  printf(" %ld %ld\n", cleaned, released);
  return 0;
}

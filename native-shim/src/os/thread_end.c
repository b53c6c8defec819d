#include "os/thread_end.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { LAST_ROUND = 3 };

static pthread_key_t key;
static _Atomic bool watching; /* the key exists */
static void (*when_ended)(void);

/* libc calls it in rounds while values are set. By a late round the destructors of other libraries have been recorded. */
static void thread_ended(void *round) {
  if ((uintptr_t)round < LAST_ROUND) {
    pthread_setspecific(key, (void *)((uintptr_t)round + 1));
    return;
  }
  when_ended();
}

bool thread_end_start(void (*ended)(void)) {
  when_ended = ended;
  if (pthread_key_create(&key, thread_ended) != 0) {
    return false;
  }
  atomic_store(&watching, true);
  return true;
}

void thread_end_watch(void) {
  if (atomic_load(&watching) && !pthread_getspecific(key)) {
    pthread_setspecific(key, (void *)1);
  }
}

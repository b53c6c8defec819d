// Threads that are cancelled below many frames, at a cancellation point and where they block.
#include "counted.h"

#include <pthread.h>

static int pipe_ends[2];
static long cleaned, seen;

struct Guard {
  UNPROBED ~Guard();
};
extern "C" PROBED void clean() {
  COUNTED;
  __atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}
Guard::~Guard() { clean(); }

extern "C" {
PROBED void await_cancellation(bool blocks) {
  COUNTED;
  char byte;
  if (blocks) {
    if (read(pipe_ends[0], &byte, 1) < 0) perror("read");
  } else {
    for (;;) pthread_testcancel();
  }
}

PROBED long sink(long depth, bool blocks) {
  COUNTED;
  Guard guard;
  try {
    if (depth == 1) await_cancellation(blocks);
    return sink(depth - 1, blocks) + 1;
  } catch (...) {
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
    throw;
  }
}

PROBED void *body(void *blocks) {
  COUNTED;
  return (void *)sink(30, blocks != nullptr);
}
}

int main() {
  COUNTED;
  if (pipe(pipe_ends) != 0) return 1;
  for (long i = 0; i < 20; i++) {
    pthread_t thread;
    pthread_create(&thread, nullptr, body, (void *)(i % 2));
    usleep(1000);
    pthread_cancel(thread);
    void *result;
    pthread_join(thread, &result);
    printf("%d", result == PTHREAD_CANCELED);
  }
  // One that is cancelled before it has begun to sink has less to clean.
  printf(" %d\n", cleaned == seen);
  return 0;
}

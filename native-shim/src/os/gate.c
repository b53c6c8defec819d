#include "os/gate.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

void gate_lock(void) { pthread_mutex_lock(&gate); }

bool gate_lock_soon(void) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 1;
  return pthread_mutex_timedlock(&gate, &deadline) == 0;
}

void gate_unlock(void) { pthread_mutex_unlock(&gate); }

void gate_forked(void) { pthread_mutex_init(&gate, NULL); }

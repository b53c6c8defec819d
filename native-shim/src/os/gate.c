#include "os/gate.h"

#include "os/sys.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

void gate_lock(void) { pthread_mutex_lock(&gate); }

bool gate_lock_soon(void) {
  uint64_t nanos = clock_nanos(CLOCK_REALTIME);
  struct timespec deadline = {(time_t)(nanos / 1000000000u) + 1, (long)(nanos % 1000000000u)};
  return pthread_mutex_timedlock(&gate, &deadline) == 0;
}

void gate_unlock(void) { pthread_mutex_unlock(&gate); }

/* Not by pthread_mutex_init: if probed, the child's call would be recorded as its parent's. */
void gate_forked(void) { gate = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

/* What the session records of a function's calls, and by which clock. */
#ifndef MDL_MODE_H
#define MDL_MODE_H

#include "os/sys.h"
#include "session/life.h"
#include "session/memory.h"

#include <stdatomic.h>
#include <x86intrin.h>

static inline bool is_exact(void) { return session->flags & MDL_EXACT; }

/* How many calls a call stands for in its thread's row. */
static inline uint32_t weight_of(const struct mdl_call *call) {
  return !is_exact() && call->inside & MDL_CALL_WEIGHED ? (uint32_t)call->inside : 1;
}

static inline bool is_cpu_time(void) { return session->flags & MDL_CPU_TIME; }

/* By what durations are measured: ticks, or nanoseconds of the calling thread's CPU time; 0 when that is not known any more:
 * when the agent has left, a sandbox may end the process for a system call (agent/single_thread.c). */
static inline uint64_t record_now(void) {
  if (!is_cpu_time()) {
    return __rdtsc();
  }
  return agent_is_dead() ? 0 : clock_nanos(CLOCK_THREAD_CPUTIME_ID);
}

#endif

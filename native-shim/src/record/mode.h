/* The session's recording mode and clock. */
#ifndef MDL_MODE_H
#define MDL_MODE_H

#include "os/sys.h"
#include "session/life.h"
#include "session/memory.h"

#include <stdatomic.h>
#include <x86intrin.h>

static inline bool is_exact(void) { return session->flags & MDL_EXACT; }

/* Whether the first call of each function is all that is wanted. */
static inline bool is_coverage(void) { return session->flags & MDL_COVERAGE; }

/* The weight of a call in its thread's row. */
static inline uint32_t weight_of(const struct mdl_call *call) {
  return !is_exact() && call->inside & MDL_CALL_WEIGHED ? (uint32_t)call->inside : 1;
}

static inline bool is_cpu_time(void) { return session->flags & MDL_CPU_TIME; }

/* The clock of durations: TSC ticks, or the calling thread's CPU time in ns. 0 once the agent has left, because a sandbox
 * may then kill the process for a system call (agent/single_thread.c). */
static inline uint64_t record_now(void) {
  if (!is_cpu_time()) {
    return __rdtsc();
  }
  return agent_is_dead() ? 0 : clock_nanos(CLOCK_THREAD_CPUTIME_ID);
}

#endif

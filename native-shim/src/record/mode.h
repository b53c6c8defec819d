/* What the session records of a function's calls, and by which clock. */
#ifndef MDL_MODE_H
#define MDL_MODE_H

#include "os/sys.h"
#include "session/life.h"
#include "session/memory.h"

#include <stdatomic.h>
#include <x86intrin.h>

static inline bool is_exact(void) { return session->flags & MDL_EXACT; }

/* How many calls a frame's stands for in its thread's row; 0: its duration goes into the ring. */
static inline uint32_t weight_of(const struct mdl_frame *frame) { return is_exact() ? 1 : frame->weight; }

static inline bool is_cpu_time(void) { return session->flags & MDL_CPU_TIME; }

/* By what durations are measured: ticks, or nanoseconds of the calling thread's CPU time; 0 when that is not known any more:
 * when the agent has left, a sandbox may end the process for a system call (agent/single_thread.c). */
static inline uint64_t record_now(void) {
  if (!is_cpu_time()) {
    return __rdtsc();
  }
  return agent_is_dead() ? 0 : clock_nanos(CLOCK_THREAD_CPUTIME_ID);
}

/* Notes that the frame's call begins now. */
static inline void record_starts(struct mdl_frame *frame) {
  uint64_t children = is_cpu_time() && !is_exact() ? __rdtsc() : 0;
  frame->tsc = record_now();
  /* Behind the clock: what a handler has added that ran before its reading is no part of this call. */
  atomic_signal_fence(memory_order_seq_cst);
  __atomic_store_n(&frame->children, children, __ATOMIC_RELAXED);
}

#endif

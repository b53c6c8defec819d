/*
 * A signal handler with probes may interrupt generated code, or this code, at any instruction. So a push reserves its frame
 * before filling it (the key last), a pop reads before releasing (key 0, then sp), and one instruction advances a counter.
 */
#ifndef MDL_INTERRUPTIBLE_H
#define MDL_INTERRUPTIBLE_H

#include <stdatomic.h>
#include <stdint.h>

/* Keeps the stores before and after in order for a handler on this thread. A compiler barrier: the processor keeps the
 * order anyway. */
static inline void ordered(void) { atomic_signal_fence(memory_order_seq_cst); }

static inline void add(uint64_t *counter, uint64_t amount) {
  __asm__ volatile("addq %1, %0" : "+m"(*counter) : "r"(amount) : "cc");
}

#endif

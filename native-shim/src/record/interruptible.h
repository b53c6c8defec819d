/*
 * A signal handler with probes may interrupt generated code, or code here, at any instruction. So a push reserves its
 * frame before it fills it (the key last), a pop reads before it releases (key 0, then sp), and a counter is advanced
 * by one instruction.
 */
#ifndef MDL_INTERRUPTIBLE_H
#define MDL_INTERRUPTIBLE_H

#include <stdatomic.h>
#include <stdint.h>

/* The stores around it stay in this order for a handler on this thread; the processor keeps it anyway. */
static inline void ordered(void) { atomic_signal_fence(memory_order_seq_cst); }

static inline void add(uint64_t *counter, uint64_t amount) {
  __asm__ volatile("addq %1, %0" : "+m"(*counter) : "r"(amount) : "cc");
}

#endif

/* The thread's ring of calls that tell their callers, drained by the agent. Sampled and mixed mode. */
#ifndef MDL_RING_H
#define MDL_RING_H

#include <mdl/layout.h>

void record_in_ring(struct mdl_thread *thread, const struct mdl_function *function, uint64_t caller, uint64_t start,
                    uint64_t ticks);

#endif

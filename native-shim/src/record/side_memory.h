/*
 * Memory for slow paths of probes when the program's stack may be too small: threads with stacks of a few pages, and
 * handlers on small alternate stacks, also call probed functions (record/side_memory.c).
 */
#ifndef MDL_SIDE_MEMORY_H
#define MDL_SIDE_MEMORY_H

/* Areas for the FPU and vector state, for assembly code. */
#define SIDE_AREAS 64

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Owner of each area: the thread pointer, 0 if free. A slow path takes and releases it (record/calls.S). */
extern uint64_t side_owners[SIDE_AREAS];
extern uint64_t side_areas; /* their address; 0 if out of memory: then the stack is used */
extern uint64_t side_area_bytes;

/* By the agent and in relatives, before probes are in place. */
void side_memory_start(uint64_t area_bytes);
/* In a forked child: frees areas of the parent's other threads. */
void side_memory_forked(void);

/* Calls the function on one of the shim's stacks, or on the current one if all of these stay in use. Signals other than
 * traps must be blocked, and the function must return. */
void side_stack_call(void (*function)(uint64_t), uint64_t argument);

#endif
#endif

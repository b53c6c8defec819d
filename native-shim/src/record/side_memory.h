/*
 * Memory that slow paths of probes use where the program's own stack may have no room: threads with stacks of a few pages, and
 * handlers on small alternate stacks, call probed functions, too (record/side_memory.c).
 */
#ifndef MDL_SIDE_MEMORY_H
#define MDL_SIDE_MEMORY_H

/* Areas for the state of the FPU and of vectors, for assembly code. */
#define SIDE_AREAS 64

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Whose each area is: the thread pointer, 0 while it is free. A slow path takes and releases it (record/calls.S). */
extern uint64_t side_owners[SIDE_AREAS];
extern uint64_t side_areas; /* where they are; 0 when there is no memory: they are on the stack then */
extern uint64_t side_area_bytes;

/* By the agent and in relatives, before there are probes. */
void side_memory_start(uint64_t area_bytes);
/* In a forked child: what other threads of the parent had is free. */
void side_memory_forked(void);

/* Calls the function on a stack of the shim's own, or on this one when all of these are taken for long. No signal handler may come
 * meanwhile but those of traps, and the function must return. */
void side_stack_call(void (*function)(uint64_t), uint64_t argument);

#endif
#endif

/*
 * Counters of basic blocks, one row of them in each thread's block. Copies of functions (org.mdlagent.arch.x86.copy) increment
 * %gs:ADDRESS, where ADDRESS is the counter's place in reserved memory below 2 GiB, and the base of GS is the distance from that
 * memory to the thread's row. Programs on x86-64 do not use GS.
 *
 * Guarantees G1 a thread that has a block counts in its own row: its base is set before its first probe lets it go on
 *            G2 a thread without a block counts in the reserved memory, which nobody reads: it counts nothing, but never faults
 */
#ifndef MDL_BLOCK_COUNTS_H
#define MDL_BLOCK_COUNTS_H

#include <mdl/layout.h>
#include <stdbool.h>

int64_t block_counts_open(uint64_t bytes);
/* Makes the calling thread count in the row of its block; NULL: nowhere. */
void block_counts_use(struct mdl_thread *thread);
/* In a process that has joined the family: false if the memory is taken. */
bool block_counts_join(void);

#endif

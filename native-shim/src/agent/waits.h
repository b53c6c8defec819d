/*
 * Where threads wait: the call paths on which they are off the processors, and for how long.
 *
 * /proc/PID/task/TID/schedstat tells how long a thread has been on a processor and has waited for one, and /syscall where a
 * thread that is off the processors has entered the kernel: its stack pointer and its instruction. Its stack is copied by
 * process_vm_readv(2), and dropped if the thread has run meanwhile. The thread notices nothing. Its other registers are unknown
 * (stack_sample.few). Used by the agent's thread only.
 */
#ifndef MDL_WAITS_H
#define MDL_WAITS_H

#include <mdl/api.h>

/* See api.h: pc_wait. The table of call paths exists. */
int64_t waits_take(int64_t tid, int64_t pid, struct mdl_pc_place *unknown);

#endif

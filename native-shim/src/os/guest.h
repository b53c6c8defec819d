/* Kernel attributes that an agent thread must not inherit from a thread of the program. */
#ifndef MDL_GUEST_H
#define MDL_GUEST_H

/*
 * A thread inherits its creator's scheduling. Agent threads drop every privilege: real-time and deadline policies, negative
 * nice values, utilization clamps, real-time I/O priority. They keep lower priorities (batch, idle, positive nice values)
 * and the process's CPU and memory node affinity. They re-enable RDTSC and CPUID, should a thread of the program have
 * disabled them for itself. Sets errno; allocates no memory.
 */
void guest_settle(void);

#endif

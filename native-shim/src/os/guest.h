/* How the kernel treats the calling thread: what a thread of the agent must not have from the program's. */
#ifndef MDL_GUEST_H
#define MDL_GUEST_H

/*
 * A thread inherits its creator's scheduling. The agent's threads give back what puts them before other threads: real-time
 * policies and deadlines, negative nice values, utilization clamps, real-time I/O priority. What puts them behind others (batch,
 * idle, nice values) they keep, and so they do where they may run: CPUs and memory nodes are what the process was started with.
 * Nor do instructions fault that a thread of the program has forbidden itself. Sets errno; no memory.
 */
void guest_settle(void);

#endif

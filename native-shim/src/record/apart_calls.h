/* Counts of processes that have given up rights (session/apart.h), read by the process with the agent as foreign bytes. */
#ifndef MDL_APART_CALLS_H
#define MDL_APART_CALLS_H

#include <stdbool.h>

/* Adds new counts to the processes' blocks: calls, and optionally durations. On the agent's thread. */
void apart_calls_take(bool durations);
/* The same with durations, at most five times a second. */
void apart_calls_take_sometimes(void);
/* At the end of the process: for the last time. */
void apart_calls_end(void);

#endif

/* Processes that were forked before the probes were in place, and the agent that they have in common. */
#ifndef MDL_RELATIVES_H
#define MDL_RELATIVES_H

#include "session/session.h"

#include <stdbool.h>
#include <sys/types.h>

/* By the agent, before its program goes on: whoever was forked earlier can have the probes from now on. */
void relatives_begin(void);

/* By a thread of its own, in a process that `forker` has forked, 0 for none, at that instant: true when the agent is to begin here.
 * Else it returns when this process has the probes, or will have none. */
bool relatives_await_agent(pid_t forker, int thread_of_forker, const struct instant *start);

#endif

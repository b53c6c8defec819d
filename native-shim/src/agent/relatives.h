/* Processes that were forked before the probes were in place, and their common agent. */
#ifndef MDL_RELATIVES_H
#define MDL_RELATIVES_H

#include "session/session.h"

#include <stdbool.h>
#include <sys/types.h>

/* By the agent, before its program goes on: processes forked earlier can get the probes from now on. */
void relatives_begin(void);

/* On a dedicated thread, in a process that `forker` (0: none) forked at that instant. True if the agent must start here.
 * Otherwise it returns once this process has the probes, or will never get them. */
bool relatives_await_agent(pid_t forker, int thread_of_forker, const struct instant *start);

#endif

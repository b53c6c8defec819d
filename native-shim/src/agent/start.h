/* Start of the agent, and its leave. */
#ifndef MDL_START_H
#define MDL_START_H

#include <stdbool.h>
#include <sys/types.h>

void agent_start(void);
/* Whether there will be probes, and are none yet. */
bool agent_comes(void);
/* In a forked child: if so, a thread waits for them. */
void agent_forked(pid_t parent);
/* For good, with its threads: the application wants to do what it could not, or should not, do with them. False when they
 * are still there. */
bool agent_leaves(const char *what);

#endif

/* Start of the agent, and its leave. */
#ifndef MDL_START_H
#define MDL_START_H

#include <stdbool.h>

void agent_start(void);
/* In a forked child: true when it gets an agent of its own. */
bool agent_forked(void);
/* For good, with its threads: the application wants to do what it could not, or should not, do with them. False when they
 * are still there. */
bool agent_leaves(const char *what);

#endif

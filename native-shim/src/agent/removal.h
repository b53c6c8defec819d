/* How the agent's threads are removed from the process. */
#ifndef MDL_REMOVAL_H
#define MDL_REMOVAL_H

#include <stdbool.h>

/* For good, where they hold no lock; waits for that up to 2 s. False when some are still there. */
bool agent_remove_threads(void);

#endif

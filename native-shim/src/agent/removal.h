/* How the agent's threads are removed from the process. */
#ifndef MDL_REMOVAL_H
#define MDL_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

/* A variable for the tests' sake. */
extern uint64_t removal_nanos_max;

/* For good, where they hold no lock; waits for that. False when some are still there. */
bool agent_remove_threads(void);

#endif

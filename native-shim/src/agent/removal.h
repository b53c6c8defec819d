/* Removal of the agent's threads from the process. */
#ifndef MDL_REMOVAL_H
#define MDL_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

/* A variable so that tests can change it. */
extern uint64_t removal_nanos_max;

/* Removes them permanently; waits until they hold no lock. False if some are left. */
bool agent_remove_threads(void);

#endif

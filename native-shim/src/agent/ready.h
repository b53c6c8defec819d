/* The agent is ready; from then on its heart is watched. */
#ifndef MDL_READY_H
#define MDL_READY_H

#include <stdint.h>

/* A variable for the tests' sake. */
extern uint64_t agent_watch_nanos;

/* See api.h, ready. */
void agent_ready(void);

#endif

/* The agent's own descriptor table. */
#ifndef MDL_DESCRIPTORS_H
#define MDL_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

extern bool agent_has_own_descriptors;

/* On the agent's first thread; the others share its table. */
void descriptors_take_own(void);
/* Waits until all copies of main's descriptors are closed. False on timeout. */
bool descriptors_await_own(uint64_t nanos);

#endif

/* The agent's own table of descriptors. */
#ifndef MDL_DESCRIPTORS_H
#define MDL_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

extern bool agent_has_own_descriptors;

/* By the agent's first thread, whose table all others share. */
void descriptors_take_own(void);
/* Until no copies of main's are open any more. False when it takes longer. */
bool descriptors_await_own(uint64_t nanos);

#endif

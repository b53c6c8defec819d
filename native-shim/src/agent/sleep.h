/* What Java's thread does while there is nothing to do. */
#ifndef MDL_SLEEP_H
#define MDL_SLEEP_H

#include <stdint.h>

/* See api.h, await_opening. Whoever sleeps here returns for a request, too. */
int64_t agent_sleep(uint64_t nanos);

#endif

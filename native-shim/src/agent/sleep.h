/* Idle wait of Java's thread. */
#ifndef MDL_SLEEP_H
#define MDL_SLEEP_H

#include <stdint.h>

/* See api.h, await_opening. Also returns for a request. */
int64_t agent_sleep(uint64_t nanos);

#endif

/* The watchdog: a thread that looks, once a second, whether those whom it serves are still there. */
#ifndef MDL_WATCH_H
#define MDL_WATCH_H

#include <stdint.h>

/* A variable for the tests' sake. */
extern uint64_t watch_nanos;

void watch_start(void);

#endif

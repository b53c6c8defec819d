/* The watchdog: a thread that checks once a second whether the JVM and the application are still alive. */
#ifndef MDL_WATCH_H
#define MDL_WATCH_H

#include <stdint.h>

/* A variable so that tests can change it. */
extern uint64_t watch_nanos;

void watch_start(void);

#endif

/* The watchdog: a thread that checks once a second whether the JVM and the application are still alive. */
#ifndef MDL_WATCH_H
#define MDL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* A variable so that tests can change it. */
extern uint64_t watch_nanos;

void watch_start(void);

/*
 * Whether the agent is stuck, asked once a second: `beat` is what the agent changes many times a second, `waited` tells how
 * long its threads have waited for a processor, and is called when a beat is missed.
 */
bool watch_is_stuck(uint64_t beat, uint64_t (*waited)(void));

#endif

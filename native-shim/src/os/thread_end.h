/* Tells of the end of threads: late in the rounds of their destructors, so that what other libraries do there has run. */
#ifndef MDL_THREAD_END_H
#define MDL_THREAD_END_H

#include <stdbool.h>

/* From now on `ended` runs at the end of each thread that is watched. False when there is no key for it. */
bool thread_end_start(void (*ended)(void));
/* The calling thread is watched, once thread_end_start() has succeeded. */
void thread_end_watch(void);

#endif

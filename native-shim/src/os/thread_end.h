/* Notification of the end of threads, in a late round of TLS destructors, after those of other libraries. */
#ifndef MDL_THREAD_END_H
#define MDL_THREAD_END_H

#include <stdbool.h>

/* Sets the function that runs at the end of each watched thread. False if no TLS key is available. */
bool thread_end_start(void (*ended)(void));
/* Watches the calling thread. Does nothing unless thread_end_start() has succeeded. */
void thread_end_watch(void);

#endif

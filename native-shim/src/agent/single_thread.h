/* System calls that need a single-threaded process. */
#ifndef MDL_SINGLE_THREAD_H
#define MDL_SINGLE_THREAD_H

#include <stdbool.h>

/* Makes the application's system call once the agent's threads are out of the way; otherwise -1 and errno. */
long single_thread_make(long number, long a, long b, long c, long d, long e);

#endif

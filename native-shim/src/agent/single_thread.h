/* What the kernel lets a process with one thread do alone. */
#ifndef MDL_SINGLE_THREAD_H
#define MDL_SINGLE_THREAD_H

#include <stdbool.h>

/* Makes the application's system call, once nothing of the agent stands in its way; else -1, with errno. */
long single_thread_make(long number, long a, long b, long c, long d, long e);

#endif

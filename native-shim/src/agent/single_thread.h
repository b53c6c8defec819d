/* What the kernel lets a process with one thread do alone. */
#ifndef MDL_SINGLE_THREAD_H
#define MDL_SINGLE_THREAD_H

#include <stdbool.h>

/* When this returns, the application may make the system call. False, with errno, when it must not be made. */
bool single_thread_may_make(long number, long first, long second, long third);

#endif

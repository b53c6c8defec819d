/* Threads of an attached process that are older than the wrappers. */
#ifndef MDL_OLDER_THREADS_H
#define MDL_OLDER_THREADS_H

#include <stdbool.h>

/* Whether no application thread or handler blocks SIGTRAP or SIGILL now, or can do so when its current system call
 * returns. From then on the wrappers prevent it (process/masks.c). Call on an agent thread, with the wrappers in place. */
bool older_threads_may_trap(void);

#endif

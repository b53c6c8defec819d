/* Threads that are older than the wrappers, in a process that was attached to. */
#ifndef MDL_OLDER_THREADS_H
#define MDL_OLDER_THREADS_H

#include <stdbool.h>

/* Whether no thread and no handler of the application blocks SIGTRAP or SIGILL, or may do so when a system call that it is in
 * returns. From then on the wrappers see to it (process/masks.c). By an agent thread, with the wrappers in place. */
bool older_threads_may_trap(void);

#endif

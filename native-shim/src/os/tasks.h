/* The threads of a process according to the kernel. */
#ifndef MDL_TASKS_H
#define MDL_TASKS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Calls `look` for each thread until it returns false. 0 or -errno: then there was no call. Does not use libc's directory
 * streams, which allocate.
 *
 * process: 0 for this one, also where /proc belongs to another pid namespace
 */
int tasks_each(pid_t process, bool (*look)(pid_t process, pid_t thread, void *result), void *result);

#endif

/* Fields of a process's /proc/PID/task/PID/stat (proc(5)): state and CPU time are its main thread's. */
#ifndef MDL_PROCESS_STAT_H
#define MDL_PROCESS_STAT_H

#include <stdint.h>
#include <sys/types.h>

/* Both are 0 if the file cannot be read. */
uint64_t process_stat_number(pid_t process, int field);
char process_stat_state(pid_t process);

#endif

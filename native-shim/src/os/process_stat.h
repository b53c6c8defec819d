/* Fields of stat files of /proc, by their numbers in proc(5). */
#ifndef MDL_PROCESS_STAT_H
#define MDL_PROCESS_STAT_H

#include <stdint.h>
#include <sys/types.h>

/* A field, from 3 on, in the text of a stat file, and the fields after it; empty if there is none. */
const char *process_stat_field(const char *text, int field);

/* Of /proc/PID/task/PID/stat: state and CPU time are the main thread's. 0 if the file cannot be read. */
uint64_t process_stat_number(pid_t process, int field);
char process_stat_state(pid_t process);

#endif

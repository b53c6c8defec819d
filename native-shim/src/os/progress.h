/*
 * How far a process may have come: how long its main thread has slept or been on a processor.
 *
 * A thread that waits for a processor does nothing, so on a busy machine elapsed time does not show that a process had the time
 * to do something.
 */
#ifndef MDL_PROGRESS_H
#define MDL_PROGRESS_H

#include <stdint.h>
#include <sys/types.h>

struct progress {
  pid_t process;
  uint64_t nanos; /* since progress_of() */
  uint64_t looked_nanos, cpu_nanos; /* at the last look: CLOCK_MONOTONIC, and main's CPU time */
};

struct progress progress_of(pid_t process);
/* Adds what has passed since the last look: the elapsed time if main sleeps now or cannot be read, else its CPU time. The CPU time
 * of another process has a resolution of 10 ms. */
void progress_look(struct progress *progress);

#endif

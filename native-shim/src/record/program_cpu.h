/* The CPU time of the program's threads, the basis of the profiler's budget. */
#ifndef MDL_PROGRAM_CPU_H
#define MDL_PROGRAM_CPU_H

#include <stdint.h>

/* See api.h, program_cpu. */
int64_t record_program_cpu_nanos(void);

#endif

/* The program's limits of memory and CPU time (process/limits.c). */
#ifndef MDL_LIMITS_H
#define MDL_LIMITS_H

#include <stdbool.h>

/* The process is about to execute another program, which inherits its limits, or has failed to. */
void limits_execute(bool begins);

#endif

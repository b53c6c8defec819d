/* Limits of memory and of processor time that the program has set (process/limits.c). */
#ifndef MDL_LIMITS_H
#define MDL_LIMITS_H

#include <stdbool.h>

/* This process is about to execute another program, which inherits its limits; or has failed to. */
void limits_execute(bool begins);

#endif

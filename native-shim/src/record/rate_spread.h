/* The spread of a function's rate between neighbouring slices, from successive differences (Wolter, "Introduction to Variance
 * Estimation", 2nd edition, chapter 8): phases of the program that last longer than a period hardly add to it. */
#ifndef MDL_RATE_SPREAD_H
#define MDL_RATE_SPREAD_H

#include <mdl/api.h>

/* Adds a slice: calls, and CPU time of the program in nanoseconds. Slices in which the program had little CPU time are joined. */
void rate_spread_add(struct mdl_rate_spread *spread, uint64_t calls, uint64_t nanos);

#endif

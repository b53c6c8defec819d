/*
 * Slices: short spans of time in which the probes of functions are on that are too frequent for them to stay on. The agent's thread
 * opens and closes slices while it has nothing else to do (agent/sleep.c), from a plan that Java has made; what Java reads
 * afterwards are the functions' counters of calls, which only slices change, and the CPU time that the program took in slices.
 *
 * A slice begins at a random place in each period: no rhythm of the program is met in one phase (stratified sampling, one unit a
 * stratum: Cochran, "Sampling Techniques", 3rd edition, section 5A.8). One is open at a time.
 */
#ifndef MDL_SLICES_H
#define MDL_SLICES_H

#include <mdl/api.h>

/* See api.h. The plan is read and written until there is another. */
void slices_plan(struct mdl_slice_plan *plan);

/* When the next slice begins, CLOCK_MONOTONIC; UINT64_MAX: none is planned. */
uint64_t slices_next(void);

/* Opens the slice that is due: how long it settles, in nanoseconds; 0 when none is due. */
uint64_t slices_open(uint64_t now);

/* What was just switched on is in the caches: from now on the open slice counts. How long, in nanoseconds. */
uint64_t slices_begin(void);

/* Closes the slice that is open. */
void slices_close(void);

#endif

/*
 * Slices: short periods in which the probes of very frequent functions are on. Java makes the plan; the agent's thread opens and
 * closes the slices while it waits (agent/sleep.c). Then Java reads the functions' call counters, which only slices change, and
 * the program's CPU time in slices.
 *
 * A slice begins at a random place in each period, so a periodic program causes no bias (stratified sampling, one unit per
 * stratum: Cochran, "Sampling Techniques", 3rd edition, section 5A.8). One slice is open at a time.
 */
#ifndef MDL_SLICES_H
#define MDL_SLICES_H

#include <mdl/api.h>
#include <stdbool.h>

/* See api.h. The plan is read and written until the next call. */
void slices_plan(struct mdl_slice_plan *plan);

/* When the next slice begins, CLOCK_MONOTONIC; UINT64_MAX: none is planned. */
uint64_t slices_next(void);

/* Opens the slice that is due, and stores its settling time in nanoseconds; false if none is due. */
bool slices_open(uint64_t now, uint64_t *settling);

/* After the settling time: the open slice counts from now on. Returns its length in nanoseconds. */
uint64_t slices_begin(void);

/* Closes the slice that is open. */
void slices_close(void);

#endif

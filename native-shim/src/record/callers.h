/*
 * Callers: per-thread sums of each function's calls, by return address (a "place"). Exact mode.
 *
 * Generated code looks up the place in the row's table and adds to its sums (CallerAssembler). This code adds places that are not
 * in the table yet. The agent finds the function of each place in the code of images (CallerPlaces); readers find those of places
 * that the agent has not seen yet, by the functions' addresses.
 *
 * Assumes    A1 only the thread itself and its handlers write its tables, but for mdl_caller.caller, which the agent alone writes
 * Guarantees G1 a structure is complete before it is linked, and stays linked: whoever follows a list finds its end
 *            G2 each recorded call is in exactly one structure, whether handlers interrupt here or not. A handler may make a second
 *               one for the same place: readers add them up
 *            G3 a row has at most MDL_CALLER_LISTS * MDL_CALLER_LIST_MAX places, and one more for all others; handlers may exceed that
 *               by what is interrupted at one time
 * Progress   no lock; the allocation is lock-free
 */
#ifndef MDL_CALLERS_H
#define MDL_CALLERS_H

#include <mdl/layout.h>

/* Adds a call of `ticks` that has returned to `from`; `below` as in struct mdl_caller. Does nothing if the row has no memory. */
void record_in_callers(struct mdl_thread *thread, const struct mdl_function *function, uint64_t from, uint64_t below, uint64_t ticks);

#endif

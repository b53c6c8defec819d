/*
 * Rows: each function's calls in a thread, added up. Exact and mixed mode.
 *
 * A call that runs within another of the same function is nested. Its time is in the other's, so it is told apart, without a
 * list of the calls that run: total - nested of a row grows by each call of the function once it has returned, by nested ones
 * too, until the call around them returns. So what it has grown by since a call began ran within that call:
 *
 *   entry   call.inside = total - nested
 *   exit    within = total - nested - call.inside; nested += within; total += ticks
 *
 * Calls that are left by a jump leave nothing to be undone. Where stacks are switched, others' calls may have returned
 * meanwhile: within is at most ticks.
 */
#ifndef MDL_ROWS_H
#define MDL_ROWS_H

#include <mdl/layout.h>

/* The call begins now, and stands for `weight` of them in its row; 0: its duration goes into the ring. */
void record_starts(const struct mdl_thread *thread, struct mdl_call *call, const struct mdl_function *function, uint32_t weight);

/* A call has returned that stands for `weight` of them; `inside` is its own. */
void record_in_row(struct mdl_thread *thread, const struct mdl_function *function, uint64_t inside, uint64_t ticks, uint64_t self,
                   uint32_t weight);

/* A function's row in a thread, and a chunk of it, made if need be; NULL when there is no memory. */
struct mdl_row *record_row(struct mdl_thread *thread, const struct mdl_function *function);
uint64_t *record_chunk(struct mdl_row *row, uint32_t chunk);

#endif

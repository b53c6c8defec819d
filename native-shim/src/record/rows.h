/*
 * Rows: per-thread sums of each function's calls. Exact and mixed mode.
 *
 * A recursive call is nested: its time is part of the outer call's, so it is summed separately. No list of running calls is
 * needed: total - nested of a row grows with each call that returns, nested calls included, until the outer call returns. So
 * its growth since a call began is the time nested within that call:
 *
 *   entry   call.inside = total - nested
 *   exit    within = total - nested - call.inside; nested += within; total += ticks
 *
 * Calls that are left by a jump need no undo. If stacks are switched, calls of other stacks may have returned meanwhile:
 * within is at most ticks.
 */
#ifndef MDL_ROWS_H
#define MDL_ROWS_H

#include <mdl/layout.h>

/* The call begins now and counts as `weight` calls in its row. */
void record_starts(const struct mdl_thread *thread, struct mdl_call *call, const struct mdl_function *function, uint32_t weight);

/* A call of this weight has returned; `inside` is its mdl_call.inside. */
void record_in_row(struct mdl_thread *thread, const struct mdl_function *function, uint64_t inside, uint64_t ticks, uint64_t self,
                   uint32_t weight);

/* A function's row in a thread, and a chunk of it, allocated on demand; NULL if out of memory. */
struct mdl_row *record_row(struct mdl_thread *thread, const struct mdl_function *function);
uint64_t *record_chunk(struct mdl_row *row, uint32_t chunk);

#endif

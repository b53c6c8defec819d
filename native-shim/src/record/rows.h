/*
 * Rows: each function's calls in a thread, added up. Exact and mixed mode.
 *
 * A call that runs within another of the same function is nested. Its time is in the other's, so it is told apart. The row
 * knows the frame of the lowest such call:
 *
 *   entry   frame's key is stored, then: is row.outermost a call of the function, below this frame and with a
 *           higher key? If not, it is this frame from now on
 *   exit    nested if row.outermost is not this frame, and below it
 *
 * Nothing is to be undone at an exit, or for frames that are left by a jump: a slot of the shadow stack below the top
 * that holds a call of the function is one that runs. A handler that comes in between sees no call that has begun, and its
 * own becomes the lowest; the entry that it has interrupted corrects that. A row that is made at an exit learns of the
 * lowest by a search.
 */
#ifndef MDL_ROWS_H
#define MDL_ROWS_H

#include <mdl/layout.h>

/* `frame`: the call's, NULL when it has just been released from the top of the shadow stack. */
void record_in_row(struct mdl_thread *thread, const struct mdl_function *function, const struct mdl_frame *frame,
                   uint64_t ticks, uint64_t self, uint32_t weight);

/* The call whose frame is on top has begun. */
void record_outermost(struct mdl_thread *thread, const struct mdl_frame *frame);

#endif

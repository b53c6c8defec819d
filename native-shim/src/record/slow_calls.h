/*
 * Slow calls, a flight recorder: the call trees of calls that took longer than a threshold, and how much of that time the thread was
 * on a processor (struct mdl_slow_calls).
 *
 * Assumes    A1 only the thread itself writes to its ring; a handler on it may do so between any two instructions, and has ended
 *               when the interrupted code goes on
 * Guarantees G1 a call of mdl_function.slow ticks or more is in its thread's ring before it returns to its caller, or counted in
 *               mdl_thread.refused
 *            G2 when a slow call returns, it and its callees that took at least 1/256 of its time are in the log, unless the
 *               callee's record had been overwritten: then the call is counted in mdl_slow_calls.cut
 *            G3 no record is copied twice
 * Progress   no lock. Memory is allocated once per thread. The CPU clock, a system call, is read once per `reading_ticks`, and at the
 *            end of each call in the ring; never after the process has confined itself
 *
 *   generated code (WholeCallAssembler)          here
 *   1 entry: tsc above mdl_thread.cpu_due        slow_calls_read_cpu: a reading in the ring
 *   2 return: ticks reach mdl_function.slow      slow_calls_returned: a record in the ring; if the call is slow, it claims the
 *                                                records since mdl_thread.slow_kept and copies them to the log
 */
#ifndef MDL_SLOW_CALLS_H
#define MDL_SLOW_CALLS_H

#include <mdl/layout.h>
#include <stdbool.h>

/* A thread gets a block: records of earlier owners are not its own. */
void slow_calls_begin(struct mdl_thread *thread);

/* Reads the calling thread's CPU clock. */
void slow_calls_read_cpu(struct mdl_thread *thread);

/* A call has returned. */
void slow_calls_returned(struct mdl_thread *thread, const struct mdl_function *function, uint64_t start, uint64_t end);

/* The agent has seen a thread wait on a path at both times. `same`: as at the last call for this thread, which gave `at`; else it is
 * set to where the record is. */
void slow_calls_saw_wait(int32_t tid, int32_t pid, uint32_t node, uint64_t now, bool same, uint64_t *at);

#endif

/*
 * Borrows a thread of the target for one chain of calls.
 *
 * The thread is interrupted, its registers are set to the first call, and it is let go at once. It makes the calls by
 * itself and restores itself: each call returns to libc's rt_sigreturn, with a signal frame that leads to the next call,
 * and the last frame holds the interrupted context: registers, vector state, signal mask.
 *
 * Assumes    A1 call_and_return and signal_return of struct target hold those instructions
 *            A2 below the thread's stack pointer and red zone is room for a signal frame, as for any handler
 * Guarantees G1 one thread is stopped, by PTRACE_INTERRUPT, and makes no call while it is stopped
 *            G2 wherever the injector ends, the thread goes on: before step 4 as after any stop (between 2 and 3, a call of G3
 *               fails with EINTR), from then on it completes by itself
 *            G3 a system call that was interrupted is made again; the program sees no EINTR. A relative timeout begins anew
 *            G4 a thread for which a signal waits is let go untouched: its call is to be interrupted by the signal
 * Progress   P1 a thread that does not stop within STOP_NANOS_MAX is given up
 *
 *   1 SEIZE, INTERRUPT, wait
 *   2 a signal waits: DETACH
 *   3 the call has failed with EINTR: SETREGS to the call; not where it was chosen: DETACH
 *   4 write frames; SETREGS to the first call; DETACH
 */
#ifndef MDL_BORROW_H
#define MDL_BORROW_H

#include "target.h"

/* A call in the target. System calls go through call_and_return, with the number in `rax`. */
struct call {
  uint64_t function;
  uint64_t rax;
  uint64_t argument[6];
  bool blocks_signals; /* all, while it runs */
};

enum { CALLS_MAX = 2 };

enum borrowed {
  BORROWED,
  NOT_THERE,     /* the thread has gone on, or a signal waits for it: try again, or another */
  NOT_ALLOWED,   /* ptrace is refused */
  DOES_NOT_STOP, /* the injector must end, which lets the thread go */
};

/* A thread to be borrowed, as /proc/PID/task/TID/syscall tells. */
struct candidate {
  pid_t thread;
  bool runs;        /* in the program's own code, else in a system call: */
  uint64_t number;
  uint64_t stack, next; /* stack pointer, and address behind the syscall instruction */
};

/* Once, before the first thread is borrowed. */
void borrow_begin(void);

/* Makes `count` calls on the thread. Frames are put below `top`, or on the thread's own stack when that is 0. Adds the
 * nanoseconds during which the thread was stopped to `stopped`. */
enum borrowed borrow(const struct target *target, const struct candidate *candidate, const struct call *calls, size_t count,
                     uint64_t top, uint64_t *stopped);

#endif

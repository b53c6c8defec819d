/*
 * Borrows a thread of the target for one chain of calls.
 *
 * The thread is interrupted, its registers are set to the first call, and it is released at once. It makes the calls and
 * restores itself without the injector: each call returns to libc's rt_sigreturn with a signal frame that starts the next
 * call. The last frame holds the interrupted context: registers, vector state, signal mask.
 *
 * Assumes    A1 call_and_return and signal_return of struct target hold those instructions
 *            A2 there is room for a signal frame below the thread's stack pointer and red zone, as for any handler
 * Guarantees G1 one thread is stopped, by PTRACE_INTERRUPT, and makes no call while it is stopped
 *            G2 wherever the injector ends, the thread goes on: before step 4 as after any stop (between 2 and 3, a call of G3
 *               fails with EINTR), from then on it completes by itself
 *            G3 a system call that was interrupted is made again; the program sees no EINTR. A relative timeout begins anew
 *            G4 a thread with a pending signal is released untouched, so that the signal interrupts its call
 * Progress   P1 a thread that does not stop within STOP_NANOS_MAX is skipped
 *
 *   1 SEIZE, INTERRUPT, wait
 *   2 a signal waits: DETACH
 *   3 the call has failed with EINTR: SETREGS to the call; not where it was chosen: DETACH
 *   4 write frames; SETREGS to the first call; DETACH
 */
#ifndef MDL_BORROW_H
#define MDL_BORROW_H

#include "filters.h"
#include "target.h"

#include <signal.h>

/* A call in the target. System calls go through call_and_return, with the number in `rax`. */
struct call {
  uint64_t function;
  uint64_t rax;
  uint64_t argument[6];
  bool blocks_signals; /* blocks all signals during the call */
  bool unblocks_traps; /* BORROW_TRAPS are unblocked after all calls */
};

enum { CALLS_MAX = 2, BORROW_TRAPS = 1 << (SIGTRAP - 1) | 1 << (SIGILL - 1) };

enum borrowed {
  BORROWED,
  NOT_THERE,     /* the thread has moved on or has a pending signal: try again, or another thread */
  NOT_ALLOWED,   /* ptrace is denied */
  DOES_NOT_STOP, /* the injector must exit, which releases the thread */
};

/* A thread to borrow, according to /proc/PID/task/TID/syscall. */
struct candidate {
  pid_t thread;
  bool runs;        /* in user mode; otherwise in a system call: */
  uint64_t number;
  uint64_t again;       /* with which the call is made again: `number`, unless that is restart_syscall */
  uint64_t stack, next; /* stack pointer, and address after the syscall instruction */
};

/* Once, before the first thread is borrowed. */
void borrow_begin(void);

/* Makes `count` calls on the thread. Frames go below `top`, or on the thread's own stack if `top` is 0. Adds the
 * nanoseconds during which the thread was stopped to `stopped`. */
enum borrowed borrow(const struct target *target, const struct candidate *candidate, const struct call *calls, size_t count,
                     uint64_t top, uint64_t *stopped);

/* Reads the seccomp filters of a thread, which makes no call: G2 to G4 hold, G3 for any system call.
 * A sleep begins anew if its filter denies restart_syscall. `*trouble`: NULL, or
 * why they cannot be read. NOT_THERE if the thread has ended. */
enum borrowed borrow_filters(pid_t thread, struct filters *filters, const char **trouble);

#endif

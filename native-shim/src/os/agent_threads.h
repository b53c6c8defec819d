/* The agent's threads: which they are, what they have cost, and how they come to rest. */
#ifndef MDL_AGENT_THREADS_H
#define MDL_AGENT_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Those that have been asked for and have not ended. */
extern _Atomic int agent_threads;

/* The calling thread begins and ends. */
void agent_threads_enter(void);
void agent_threads_leave(void);

bool agent_threads_have(int tid); /* one that is ending, too */
bool agent_threads_have_running(int tid);
uint64_t agent_threads_cpu_nanos(void);
/* How many the kernel counts in this process. While one is just beginning or ending, which it may count or not: no less. */
int agent_threads_counted(bool *sure);
/* On a thread of the application: whether there are some in this process. */
bool agent_threads_are_there(void);

/*
 * Sends each a signal; 0 only looks. False when there is none any more. Those that are ending get no signal, but count: a
 * process that ends with its last thread has the exit status of whichever the kernel saw leave last.
 */
bool agent_threads_signal(int signal);
/* From now on, or not any more, a thread that a signal finds waiting in the kernel ends. */
void agent_threads_remove(bool on);
/* In the handler of such a signal: does not return when the calling thread, interrupted there, is to be removed and can be. */
void agent_threads_leave_if_removed(const ucontext_t *context);

/* Never goes on: what an agent thread does instead of ending the process. */
_Noreturn void agent_threads_park(void);
/* One that has begun, 0 for none. */
int agent_threads_one(void);
/* In a forked child: there are none. */
void agent_threads_forked(void);

#endif

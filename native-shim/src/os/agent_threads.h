/* The agent's threads: their ids, their CPU time, and how they are stopped. */
#ifndef MDL_AGENT_THREADS_H
#define MDL_AGENT_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Threads that have been requested and have not ended. */
extern _Atomic int agent_threads;

/* The calling thread begins and ends. */
void agent_threads_enter(void);
void agent_threads_leave(void);

bool agent_threads_have(int tid); /* also if it is ending */
bool agent_threads_have_running(int tid);
uint64_t agent_threads_cpu_nanos(void);
/* How long the current ones, except the caller, have been runnable without a processor; 0 where the kernel does not tell. */
uint64_t agent_threads_waited_nanos(void);
/* How many of them the kernel counts in this process. *sure is false while a thread is beginning or ending: then it is an
 * upper bound. */
int agent_threads_counted(bool *sure);
/* On an application thread: whether this process has agent threads. */
bool agent_threads_are_there(void);

/*
 * Signals each thread; signal 0 only checks. False if none is left. Threads that are ending get no signal but count as left,
 * because a process takes its exit status from the last thread that the kernel sees leave.
 */
bool agent_threads_signal(int signal);
/* If on, a signal ends an agent thread that waits in the kernel. */
void agent_threads_remove(bool on);
/* In the handler of such a signal. Does not return if the interrupted thread is to be removed and can be. */
void agent_threads_leave_if_removed(const ucontext_t *context);

/* Blocks forever. Agent threads call it instead of ending the process. */
_Noreturn void agent_threads_park(void);
/* The id of any running agent thread, 0 if there is none. */
int agent_threads_one(void);
/* In a forked child, which has no agent threads. */
void agent_threads_forked(void);

#endif

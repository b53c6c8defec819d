/*
 * Wrappers: programs such as timeout, nice and a container's init, which execute another program in their place, or as their only
 * child, and wait for it. The program that they execute is the one that is meant.
 *
 * A wrapper is told by what it does: it has had one child, and its main waits for that. The two processes have nothing of each
 * other but what the kernel shows in /proc, so an agent shows itself there, by the name of its first thread.
 */
#ifndef MDL_WRAPPER_H
#define MDL_WRAPPER_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls `start`, which starts a thread: this has the name that shows an agent, from its first moment on. */
int wrapper_show_thread(int (*start)(void));
/* The same for the calling thread, and the contrary. */
void wrapper_show_agent(void);
void wrapper_hide_agent(void);
/* Whether the process shows one. */
bool wrapper_has_agent(pid_t process);
/* The thread of a process that has the agent, or will; 0 for none. */
pid_t wrapper_agent_of(pid_t process);
/* The only child that the process has had so far; 0 when there is none, or there were others. */
pid_t wrapper_only_child(pid_t process);
/* Whether main of that process sleeps until a child ends or a signal comes. */
bool wrapper_waits(pid_t process);
/* Whether the process has executed another program since it had that thread of its agent: it shows another agent. */
bool wrapper_has_executed(pid_t process, int thread);
/* Of the wrappers that have executed this process, one within the other, the outermost. */
pid_t wrapper_outermost(void);

#endif

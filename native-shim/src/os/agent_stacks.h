/*
 * Stacks of the agent's threads. They do not come from libc, because libc caches the stacks of ended threads, also in forked
 * children, and reuses them for the program's threads: a JVM leaves guard pages in them.
 *
 * A forked child inherits only the thread control block on top of such a stack, which libc's thread lists point to. The rest
 * is neither used nor unmapped there.
 */
#ifndef MDL_AGENT_STACKS_H
#define MDL_AGENT_STACKS_H

#include <pthread.h>
#include <stdbool.h>

/* Sets the stack of a detached thread that is about to be created. False: the thread gets a stack from libc. */
bool agent_stack_give(pthread_attr_t *attributes);
/* The thread was not created. */
void agent_stack_take_back(const pthread_attr_t *attributes);
/* On the thread: in its first function, and when libc ends it. */
void agent_stack_enter(void);
void agent_stack_leave(void);
/* In a forked child. */
void agent_stacks_forked(void);

#endif

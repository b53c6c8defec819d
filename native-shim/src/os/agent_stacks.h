/*
 * The stacks of the agent's threads. They are none of libc's, which would keep them when their threads have ended, also those of
 * a forked child's parent, and give them to the program's threads: a JVM leaves pages in them that nobody may touch.
 *
 * A forked child has of such a stack only what libc's lists of threads lead to, the block on top of it. Nobody there uses the rest,
 * and nobody gives it back.
 */
#ifndef MDL_AGENT_STACKS_H
#define MDL_AGENT_STACKS_H

#include <pthread.h>
#include <stdbool.h>

/* For a thread that is about to be created, and that nobody will join. False: it has one of libc's. */
bool agent_stack_give(pthread_attr_t *attributes);
/* It was not created. */
void agent_stack_take_back(const pthread_attr_t *attributes);
/* On the thread, at its begin, in its first function; and when libc ends it. */
void agent_stack_enter(void);
void agent_stack_leave(void);
/* In a forked child. */
void agent_stacks_forked(void);

#endif

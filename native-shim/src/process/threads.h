/* The threads of the process: how they begin and end, whose they are. */
#ifndef MDL_THREADS_H
#define MDL_THREADS_H

#include <stdbool.h>

/* From now on threads are counted. */
void threads_start(void);
/* A thread of the agent. 0, or an error. */
int threads_start_agent(void *(*routine)(void *));
bool threads_are_single(void); /* the application has one */
/* Called when the application has created a thread, unless it is NULL. */
extern void (*_Atomic threads_when_created)(void);
/* On an agent thread: when main has ended, and no thread of the application is left, the status that main's ended with;
 * else -1. */
int threads_status_of_ended(void);
/* In a forked child: the calling thread alone is there. */
void threads_forked(void);

#endif

/* Creation, end and ownership of the process's threads. */
#ifndef MDL_THREADS_H
#define MDL_THREADS_H

#include <stdbool.h>

/* Starts counting threads. */
void threads_start(void);
/* Starts an agent thread. 0, or an error. */
int threads_start_agent(void *(*routine)(void *));
bool threads_are_single(void); /* the application has one thread */
/* Called after the application has created a thread; may be NULL. */
extern void (*_Atomic threads_when_created)(void);
/* On an agent thread: main's exit status, if main has ended and no application thread is left; else -1. */
int threads_status_of_ended(void);
/* In a forked child, which has only the calling thread. */
void threads_forked(void);

#endif

/* Start of the agent, and its leave. */
#ifndef MDL_START_H
#define MDL_START_H

#include <stdbool.h>
#include <sys/types.h>

void agent_start(void);
/* Whether there will be probes, and are none yet. */
bool agent_comes(void);
/* In a forked child: if so, a thread waits for them. `thread` is one of the parent's agent, 0 for none. */
void agent_forked(pid_t parent, int thread);
/* For good, with its threads: the application wants to do what it could not, or should not, do with them. False when they
 * are still there. */
bool agent_leaves(const char *what);
/* Around a call for which it may have to leave. Behind it, a process whose agent had not begun waits for its probes again, by itself,
 * unless no JVM could start there: at once when somebody has forked it or it has several threads, else when it has. */
void agent_may_have_to_leave(void);
void agent_may_return(bool never, bool has_threads);

#endif

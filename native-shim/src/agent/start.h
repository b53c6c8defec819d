/* Start and removal of the agent. */
#ifndef MDL_START_H
#define MDL_START_H

#include <stdbool.h>
#include <sys/types.h>

void agent_start(void);
/* Whether probes will come but are not in place yet. */
bool agent_comes(void);
/* In a forked child: if so, starts a thread that waits for them. `thread`: a thread of the parent's agent, 0 for none. */
void agent_forked(pid_t parent, int thread);
/* Removes the agent and its threads permanently, before an application's call that they would prevent or make unsafe.
 * False if they are still there. */
bool agent_leaves(const char *what);
/* Before and after a call for which the agent may have to leave. After the call, a process whose agent had not started
 * waits for its probes again, unless no JVM could start there: at once if it was forked or has several threads, otherwise
 * once it has several. */
void agent_may_have_to_leave(void);
void agent_may_return(bool never, bool has_threads);

#endif

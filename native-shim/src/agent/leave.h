/* `mdl detach --for-good`: the agent's threads end, and the program goes on without them. */
#ifndef MDL_LEAVE_H
#define MDL_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

/* agent_leaves(), which agent/start.c sets here because it is above. */
extern bool (*leave_remove_agent)(const char *what);

/*
 * Begins to remove the agent. Called on Java's thread, which is removed too, once the request that it serves is answered.
 * The session ends then, its socket last. Stubs, wrappers and the session's memory stay: threads may return through them.
 * 0 or -errno.
 */
int64_t agent_leave_for_good(void);

#endif

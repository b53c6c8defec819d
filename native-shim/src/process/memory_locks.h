/* Locks of memory: mlockall() is the program's, and of its memory alone. How much memory is the agent's. */
#ifndef MDL_MEMORY_LOCKS_H
#define MDL_MEMORY_LOCKS_H

#include <stdint.h>

/* As mlockall() and munlockall(). */
int memory_lock_all(int flags);
int memory_unlock_all(void);
/* On an agent thread: of what libc has mapped for the agent since the program has locked its future memory. */
void memory_unlock_own(void);

/* What the agent has mapped, in bytes: all of it, and what no file is behind. */
struct agent_memory {
  uint64_t all, anonymous;
};
struct agent_memory memory_of_agent(void);

#endif

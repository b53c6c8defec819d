/* mlockall() of the program, which locks the program's memory only; and the size of the agent's memory. */
#ifndef MDL_MEMORY_LOCKS_H
#define MDL_MEMORY_LOCKS_H

#include <stdint.h>

/* mlockall() and munlockall(), without the agent's memory. */
int memory_lock_all(int flags);
int memory_unlock_all(void);
/* On an agent thread: unlocks memory that libc has mapped for the agent since the program locked its future memory. */
void memory_unlock_own(void);

/* The agent's mappings in bytes: all, and anonymous ones. */
struct agent_memory {
  uint64_t all, anonymous;
};
struct agent_memory memory_of_agent(void);

#endif

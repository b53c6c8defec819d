/* Locks of memory: mlockall() is the program's, and of its memory alone. */
#ifndef MDL_MEMORY_LOCKS_H
#define MDL_MEMORY_LOCKS_H

/* As mlockall() and munlockall(). */
int memory_lock_all(int flags);
int memory_unlock_all(void);
/* On an agent thread: of what libc has mapped for the agent since the program has locked its future memory. */
void memory_unlock_own(void);

#endif

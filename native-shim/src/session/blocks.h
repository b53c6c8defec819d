/* The list of the threads' blocks, and who has which: the left side of family.c's protocol. A process is NULL when there was no
 * record left for it. */
#ifndef MDL_BLOCKS_H
#define MDL_BLOCKS_H

#include "session/memory.h"

/* A block for the calling thread, whose owner it is then; NULL when there is no memory. */
struct mdl_thread *blocks_take(struct mdl_process *process);
void blocks_give_back(struct mdl_thread *thread);
/* False when one of the process's blocks cannot be had at this moment. */
bool blocks_disown(const struct mdl_process *process);

static inline struct mdl_thread *block_newest(void) {
  return (struct mdl_thread *)__atomic_load_n(&session->threads, __ATOMIC_ACQUIRE);
}

static inline struct mdl_thread *block_after(const struct mdl_thread *thread) { return (struct mdl_thread *)thread->next; }

#endif

/* The list of the threads' blocks and their owners: the left side of family.c's protocol. `process` is NULL if there was
 * no record left for the process. */
#ifndef MDL_BLOCKS_H
#define MDL_BLOCKS_H

#include "session/memory.h"

/* Takes a block for the calling thread, which becomes its owner; NULL if out of memory. */
struct mdl_thread *blocks_take(struct mdl_process *process);
void blocks_give_back(struct mdl_thread *thread);
/* False if one of the process's blocks cannot be taken now. */
bool blocks_disown(const struct mdl_process *process);

static inline struct mdl_thread *block_newest(void) {
  return (struct mdl_thread *)__atomic_load_n(&session->threads, __ATOMIC_ACQUIRE);
}

static inline struct mdl_thread *block_after(const struct mdl_thread *thread) { return (struct mdl_thread *)thread->next; }

#endif

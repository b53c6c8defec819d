/* Signal masks of threads: see masks.c. */
#ifndef MDL_MASKS_H
#define MDL_MASKS_H

#include "os/self.h"
#include "process/trap_bit.h"

#include <pthread.h>

void masks_start(void);
/* Sets the mask that an agent thread begins with, so that it takes none of TRAPS before it is registered. 0 or an error. */
int masks_block_at_birth(pthread_attr_t *attributes);
void masks_unblock_after_birth(void);

/* Sets which of TRAPS the calling thread sees as blocked. */
void masks_set_blocked(uint64_t traps);

typedef int (*mask_function)(int, const sigset_t *, sigset_t *);
/* sigprocmask on the virtual mask; `function` changes the kernel's mask. */
int masks_set_virtual(mask_function function, int how, const sigset_t *set, sigset_t *old);

/* True for nearly all calls: they go to libc by a tail call. */
static inline bool mask_is_plain(const void *set) {
  return !is_agent_thread && !traps_blocked && !(set && mask_word(set) & TRAPS);
}

#endif

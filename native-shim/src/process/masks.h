/* Masks of threads: see masks.c. */
#ifndef MDL_MASKS_H
#define MDL_MASKS_H

#include "os/self.h"
#include "process/trap_bit.h"

#include <pthread.h>

void masks_start(void);
/* The mask with which a thread of the agent begins: nobody sends it one of TRAPS before it is known for one. 0 or an error. */
int masks_block_at_birth(pthread_attr_t *attributes);
void masks_unblock_after_birth(void);

/* Those of TRAPS that the calling thread believes to be blocked from now on. */
void masks_set_blocked(uint64_t traps);

typedef int (*mask_function)(int, const sigset_t *, sigset_t *);
/* What sigprocmask is to do, by a function that does it to the kernel's mask. */
int masks_set_virtual(mask_function function, int how, const sigset_t *set, sigset_t *old);

/* Nearly all calls: libc's own, by a tail call. */
static inline bool mask_is_plain(const void *set) {
  return !is_agent_thread && !traps_blocked && !(set && mask_word(set) & TRAPS);
}

#endif

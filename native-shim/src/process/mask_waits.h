/* Calls that wait with a temporary mask. */
#ifndef MDL_MASK_WAITS_H
#define MDL_MASK_WAITS_H

#include "process/masks.h"

struct other_mask {
  sigset_t set;
  uint64_t outer; /* the thread's bits before and after */
  uint64_t held;  /* blocked in the kernel, so that none arrives between here and the wait */
};

void begin_other_mask(struct other_mask *other, const void *mask);
/* Also if the thread is cancelled during the wait. */
void end_other_mask(struct other_mask *other);

static inline bool is_plain_wait(const void *mask) { return !mask || is_agent_thread || mask_is_plain(mask); }

/* `call` uses `other` as the mask to wait with. */
#define WITH_OTHER_MASK(mask, call)                                     \
  do {                                                                  \
    const void *other = (mask);                                         \
    if (is_plain_wait(other)) {                                         \
      return call;                                                      \
    }                                                                   \
    __attribute__((cleanup(end_other_mask))) struct other_mask changed; \
    begin_other_mask(&changed, other);                                  \
    other = &changed.set;                                               \
    return call;                                                        \
  } while (0)

#endif

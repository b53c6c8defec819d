/* Jumps at entries that an atomic unit splits. They are installed and removed in steps, as WordPatch.java's words are. */
#ifndef MDL_ENTRY_JUMPS_H
#define MDL_ENTRY_JUMPS_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stdint.h>

/* Jumps that change together. Initialise with zeros. */
struct jumps_batch {
  struct mdl_jump *first; /* a list through .next */
  bool begun;
  uint64_t signals;
};

/* Step 1 for a site whose jump is missing although a request needs it, or present although none does. */
void jumps_add(struct jumps_batch *batch, const struct mdl_site *site);
/* As jumps_add(). While `held`, the jump counts as requested. */
void jumps_hold(struct jumps_batch *batch, const struct mdl_site *site, bool held);
/* Steps 2 to 5 for the whole batch. From the first addition to here, signals are blocked and other batches wait. */
void jumps_end(struct jumps_batch *batch);

/* Call before creating a process that executes the same text, and then in that process. */
void jumps_before_fork(void);
void jumps_forked(void);

#endif

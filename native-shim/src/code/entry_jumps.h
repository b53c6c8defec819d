/* Jumps over entries within which an atomic unit ends: they come and go in steps, as WordPatch.java's words do. */
#ifndef MDL_ENTRY_JUMPS_H
#define MDL_ENTRY_JUMPS_H

#include <mdl/layout.h>
#include <stdbool.h>
#include <stdint.h>

/* Those that change together. Begins with zeros. */
struct jumps_batch {
  struct mdl_jump *first; /* a list through .next */
  bool begun;
  uint64_t signals;
};

/* Step 1 for a site, if it has such a jump, and that is not where somebody wants it. */
void jumps_add(struct jumps_batch *batch, const struct mdl_site *site);
/* The same, and as long as it is held somebody wants it there. */
void jumps_hold(struct jumps_batch *batch, const struct mdl_site *site, bool held);
/* Steps 2 to 5 for all of them. Signals have been blocked, and other batches locked out, since the first was added. */
void jumps_end(struct jumps_batch *batch);

/* By whoever makes a process that executes the same text, before. */
void jumps_before_fork(void);
void jumps_forked(void);

#endif

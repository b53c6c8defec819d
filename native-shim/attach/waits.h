/*
 * System calls in which a thread may be borrowed: no allocator or dynamic linker makes them while holding a lock that
 * pthread_create takes, and restarting them changes nothing but a relative timeout.
 */
#ifndef MDL_WAITS_H
#define MDL_WAITS_H

#include "borrow.h"

/* Rank of a call: 0 is the best for borrowing; -1: not allowed. */
int waits_rank(uint64_t number);

enum { CANDIDATES_MAX = 64, RANKS = 4 };

/* Whether a thread blocks SIGTRAP or SIGILL. */
bool waits_some_block(const struct target *target);

/* The threads that may be borrowed, best first; running threads last. Returns their number.
 * * blocking: only threads that block SIGTRAP or SIGILL */
size_t waits_find(const struct target *target, bool blocking, struct candidate candidates[CANDIDATES_MAX]);

#endif

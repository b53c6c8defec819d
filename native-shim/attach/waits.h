/*
 * System calls in which a thread may be borrowed: neither an allocator nor the dynamic linker makes them with a lock that
 * pthread_create takes, and to make them again changes nothing but a relative timeout.
 */
#ifndef MDL_WAITS_H
#define MDL_WAITS_H

#include "borrow.h"

/* 0 is the best call to borrow a thread in; -1: none. */
int waits_rank(uint64_t number);

enum { CANDIDATES_MAX = 64, RANKS = 4 };

/* The threads that may be borrowed, best first, and those that run last. Returns their number. */
size_t waits_find(const struct target *target, struct candidate candidates[CANDIDATES_MAX]);

#endif

/*
 * What the calling thread believes of SIGTRAP and SIGILL, and the signals that wait because of it. The kernel's mask never
 * has them: see masks.c.
 */
#ifndef MDL_TRAP_BIT_H
#define MDL_TRAP_BIT_H

#include "os/attributes.h"
#include "os/sys.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Those that trapping bytes raise. */
static const uint64_t TRAPS = 1ULL << (SIGTRAP - 1) | 1ULL << (SIGILL - 1);

/* Those of them that the application believes to be blocked. */
extern THREAD_LOCAL uint64_t traps_blocked;

/* Which of them wait, for an application thread. Agent threads would only send them back. */
uint64_t traps_waiting(void);
/* Takes one of `wanted` that waits, and gives its number; else 0. */
int trap_take(uint64_t wanted, siginfo_t *info);
/* Sends those that wait, and are not blocked, to the calling thread. */
void traps_deliver(void);
/* It waits until the application unblocks it. */
void trap_hold_back(const siginfo_t *info);
/* The signal that `info` tells of, to the calling thread. */
void trap_queue_to_self(siginfo_t *info);
/* In a forked child: no signal waits. */
void traps_forked(void);

static inline uint64_t trap_bit(int signal) { return 1ULL << (signal - 1) & TRAPS; }

/* The kernel's mask, and all that matters of libc's. */
static inline uint64_t mask_word(const void *set) { return *(const uint64_t *)set; }

static inline void add_to_mask(void *set, uint64_t traps) { *(uint64_t *)set |= traps; }

static inline sigset_t without_traps(const void *set) {
  sigset_t result = {{mask_word(set) & ~TRAPS}};
  return result;
}

static inline void change_kernel_mask(int how, uint64_t set) {
  raw_syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof set);
}

#endif

/*
 * The calling thread's virtual mask of SIGTRAP and SIGILL, and the signals pending because of it. The kernel's mask never
 * blocks them: see masks.c.
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

/* The signals that trapping bytes raise. */
static const uint64_t TRAPS = 1ULL << (SIGTRAP - 1) | 1ULL << (SIGILL - 1);

/* The TRAPS that the application sees as blocked. */
extern THREAD_LOCAL uint64_t traps_blocked;

/* The pending TRAPS of an application thread. Agent threads would only send them back. */
uint64_t traps_waiting(void);
/* Takes a pending signal of `wanted`: its number, or 0. */
int trap_take(uint64_t wanted, siginfo_t *info);
/* Sends pending, unblocked signals to the calling thread. */
void traps_deliver(void);
/* Keeps the signal pending until the application unblocks it. */
void trap_hold_back(const siginfo_t *info);
/* Sends the signal described by `info` to the calling thread. */
void trap_queue_to_self(siginfo_t *info);
/* In a forked child: clears pending signals. */
void traps_forked(void);

static inline uint64_t trap_bit(int signal) { return 1ULL << (signal - 1) & TRAPS; }

/* The first word of libc's mask is all of the kernel's mask. */
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

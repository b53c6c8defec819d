/*
 * What the calling thread believes of SIGTRAP, and the signals that wait because of it. The kernel's mask never has SIGTRAP:
 * see masks.c.
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

static const uint64_t TRAP = 1ULL << (SIGTRAP - 1);

/* Of the application, which believes that SIGTRAP is blocked. */
extern THREAD_LOCAL bool trap_blocked;

/* Whether a SIGTRAP waits, for an application thread. Agent threads would only send them back. */
bool trap_waits(void);
/* Takes one that waits. */
bool trap_take(siginfo_t *info);
/* Sends one that waits to the calling thread. */
void trap_deliver(void);
/* It waits until the application unblocks SIGTRAP. */
void trap_hold_back(const siginfo_t *info);
/* SIGTRAP to the calling thread. */
void trap_queue_to_self(siginfo_t *info);
/* In a forked child: no signal waits. */
void trap_forked(void);

/* The kernel's mask, and all that matters of libc's. */
static inline uint64_t mask_word(const void *set) { return *(const uint64_t *)set; }

static inline void add_trap(void *set) { *(uint64_t *)set |= TRAP; }

static inline sigset_t without_trap(const void *set) {
  sigset_t result = {{mask_word(set) & ~TRAP}};
  return result;
}

static inline void change_kernel_mask(int how, uint64_t set) {
  raw_syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof set);
}

#endif

/*
 * Signal masks. Agent threads block all signals except those that they need. Application threads never block SIGTRAP and
 * SIGILL in the kernel, from process start on, because a trapping byte whose signal is blocked kills the process. One bit
 * per thread and signal emulates the application's mask, and queries return it. A SIGTRAP or SIGILL that is *sent* to a
 * thread whose bit is set stays pending until the thread unblocks it.
 *
 * Limits of the emulation:
 *   - exec'd and spawned programs inherit a mask without them. (The mask of a spawn attribute is not changed: between its
 *     use and exec only libc's code runs.)
 *   - a handler whose sa_mask has them runs with the interrupted code's bits, except in their own handlers;
 *   - setcontext, swapcontext and the mask of a thread attribute do not change the bits;
 *   - a vfork child changes the bits of its parent's thread;
 *   - a signal sent to the process stays pending if the thread that the kernel chose blocks it, even if another thread
 *     accepts it or is in sigwait; signalfd does not see it.
 * Not covered: masks set by a direct system call, and a handler that adds these signals to its uc_sigmask.
 */
#include "process/masks.h"

#include "os/next.h"
#include "os/signal_block.h"
#include "process/dispositions.h"

#include <sched.h>
#include <stdatomic.h>

/*
 * A thread that sets its mask may take a signal that the kernel meant for another thread of the process. An agent thread
 * that is not yet registered would then run the application's handler.
 */
int masks_block_at_birth(pthread_attr_t *attributes) {
  sigset_t blocked = {{signals_blocked_by_agent() | TRAPS}};
  return next()->pthread_attr_setsigmask_np(attributes, &blocked);
}

/* Signals pending for the main thread are left to it. */
void masks_unblock_after_birth(void) {
  enum { TRIES = 1000 };
  uint64_t waiting = 0;
  for (int i = 0; i < TRIES; i++) {
    raw_syscall(SYS_rt_sigpending, &waiting, sizeof waiting);
    if (!(waiting & TRAPS)) {
      break;
    }
    sched_yield();
  }
  change_kernel_mask(SIG_UNBLOCK, TRAPS);
}

void masks_start(void) {
  uint64_t now = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now);
  if (now & TRAPS) {
    signals_take(now & TRAPS); /* first: a signal may be pending */
    traps_blocked = now & TRAPS;
    change_kernel_mask(SIG_UNBLOCK, TRAPS);
  }
}

static void block(uint64_t traps) {
  if (traps & ~traps_blocked) {
    signals_take(traps); /* for signals sent from now on */
    traps_blocked |= traps;
  }
}

void masks_set_blocked(uint64_t traps) {
  block(traps);
  traps_blocked = traps;
  atomic_signal_fence(memory_order_seq_cst);
  traps_deliver();
}

static uint64_t blocked_after(int how, uint64_t set) {
  switch (how) {
    case SIG_BLOCK: return traps_blocked | (set & TRAPS);
    case SIG_UNBLOCK: return traps_blocked & ~set;
    case SIG_SETMASK: return set & TRAPS;
    default: return traps_blocked;
  }
}

static int set_agent_mask(mask_function function, int how, const sigset_t *set, sigset_t *old) {
  uint64_t kept = mask_word(set);
  if (how == SIG_UNBLOCK) {
    kept &= ~signals_blocked_by_agent();
  } else {
    kept = (kept | signals_blocked_by_agent()) & ~TRAPS;
  }
  sigset_t changed = {{kept}};
  return function(how, &changed, old);
}

/* A thread that is older than the wrappers may block SIGTRAP and SIGILL. It takes over its mask at its next change, or
 * when the injector makes it call mdl_adopt(). */
static void adopt(void) {
  static THREAD_LOCAL bool adopted;
  if (process_was_attached && !adopted) {
    adopted = true;
    masks_start();
  }
}

EXPORT void mdl_adopt(void) {
  if (!is_agent_thread) {
    adopt();
  }
}

__attribute__((noinline)) int masks_set_virtual(mask_function function, int how, const sigset_t *set, sigset_t *old) {
  if (is_agent_thread) {
    return set ? set_agent_mask(function, how, set, old) : function(how, set, old);
  }
  if (process_is_confined && !traps_blocked) {
    return function(how, set, old); /* our code has no trapping bytes any more */
  }
  adopt();
  uint64_t before = traps_blocked, after = before;
  sigset_t kept;
  if (set) {
    after = blocked_after(how, mask_word(set));
    kept = without_traps(set);
    set = &kept;
  }
  block(after);
  int result = function(how, set, old);
  if (result != 0) {
    after = before;
  } else if (old) {
    add_to_mask(old, before);
  }
  masks_set_blocked(after);
  return result;
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  mask_function function = next()->pthread_sigmask;
  return mask_is_plain(set) ? function(how, set, old) : masks_set_virtual(function, how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  mask_function function = next()->sigprocmask;
  return mask_is_plain(set) ? function(how, set, old) : masks_set_virtual(function, how, set, old);
}

static int change_one(int how, int number) {
  sigset_t set;
  sigemptyset(&set);
  return sigaddset(&set, number) == 0 ? sigprocmask(how, &set, NULL) : -1;
}

EXPORT int sighold(int number) { return change_one(SIG_BLOCK, number); }
EXPORT int sigrelse(int number) { return change_one(SIG_UNBLOCK, number); }

static int set_bsd_mask(int how, int mask) {
  sigset_t set = {{(unsigned)mask}}, old;
  return sigprocmask(how, &set, &old) == 0 ? (int)mask_word(&old) : -1;
}

EXPORT int sigblock(int mask) { return set_bsd_mask(SIG_BLOCK, mask); }
EXPORT int sigsetmask(int mask) { return set_bsd_mask(SIG_SETMASK, mask); }
EXPORT int siggetmask(void) { return set_bsd_mask(SIG_BLOCK, 0); }

typedef void (*handler)(int);

/* It changes the mask as well as the disposition. */
EXPORT handler sigset(int number, handler function) {
  if (!signal_is_virtual(number) || function == SIG_ERR) {
    return next()->sigset(number, function);
  }
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, number);
  handler old;
  if (function == SIG_HOLD) {
    struct sigaction current;
    sigprocmask(SIG_BLOCK, &set, &before);
    sigaction(number, NULL, &current);
    old = current.sa_handler;
  } else {
    struct sigaction action = {.sa_handler = function}, current;
    sigaction(number, &action, &current);
    old = current.sa_handler;
    sigprocmask(SIG_UNBLOCK, &set, &before);
  }
  return sigismember(&before, number) == 1 ? SIG_HOLD : old;
}

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
  if (!set || !(mask_word(set) & TRAPS)) {
    return next()->pthread_attr_setsigmask_np(attributes, set);
  }
  sigset_t kept = without_traps(set);
  return next()->pthread_attr_setsigmask_np(attributes, &kept);
}

/*
 * Masks. Those of agent threads have all signals but the ones that they need. Those of application threads never have
 * SIGTRAP and SIGILL, from the start of the process on: a thread that meets a trapping byte while its signal is blocked is
 * the end of the process. A bit per thread and signal remembers what the application wants, and is what the application
 * sees; one of them that is *sent* to a thread that wants none waits until it does.
 *
 * What the bits cannot follow:
 *   - exec'd and spawned programs inherit a mask without them. (A spawn attribute's mask is left as it is: between
 *     its use and exec only libc's code runs.)
 *   - a handler whose sa_mask has them runs with the bits of the code that it interrupted, but for their own handlers;
 *   - setcontext and swapcontext leave the bits as they are, and so does a thread attribute's mask;
 *   - what a vfork child does to its mask, it does to the bits of its parent's thread;
 *   - one sent to the process waits as soon as the thread that the kernel chose wants none, though another may want it,
 *     or be in sigwait; signalfd does not see it.
 * What is not guarded: masks set by a system call that libc's functions do not make, and a handler that adds them to
 * the uc_sigmask it returns to.
 */
#include "process/masks.h"

#include "os/next.h"
#include "os/signal_block.h"
#include "process/dispositions.h"

#include <sched.h>
#include <stdatomic.h>

/*
 * A thread that takes a mask looks for signals that were sent to the process, and may be faster than the thread for which
 * the kernel has meant them. One of the agent would run the application's handler, as long as it is not known for one.
 */
int masks_block_at_birth(pthread_attr_t *attributes) {
  sigset_t blocked = {{signals_blocked_by_agent() | TRAPS}};
  return next()->pthread_attr_setsigmask_np(attributes, &blocked);
}

/* What waits for the process's main thread is left to it. */
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
    signals_take(now & TRAPS); /* first: one may wait already */
    traps_blocked = now & TRAPS;
    change_kernel_mask(SIG_UNBLOCK, TRAPS);
  }
}

static void block(uint64_t traps) {
  if (traps & ~traps_blocked) {
    signals_take(traps); /* for those that are sent from now on */
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

/* A thread that is older than the wrappers may block SIGTRAP and SIGILL. */
static void adopt(void) {
  static THREAD_LOCAL bool adopted;
  if (process_was_attached && !adopted) {
    adopted = true;
    masks_start();
  }
}

__attribute__((noinline)) int masks_set_virtual(mask_function function, int how, const sigset_t *set, sigset_t *old) {
  if (is_agent_thread) {
    return set ? set_agent_mask(function, how, set, old) : function(how, set, old);
  }
  if (process_is_confined && !traps_blocked) {
    return function(how, set, old); /* nothing of ours traps any more */
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

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
  if (!set || !(mask_word(set) & TRAPS)) {
    return next()->pthread_attr_setsigmask_np(attributes, set);
  }
  sigset_t kept = without_traps(set);
  return next()->pthread_attr_setsigmask_np(attributes, &kept);
}

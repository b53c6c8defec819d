/*
 * Two sets of dispositions in one process.
 *
 * The kernel has the application's dispositions, with five exceptions. Four are SIGSEGV, SIGBUS, SIGFPE and SIGILL, which
 * the JVM raises on purpose: once the JVM has set them, their handler is signals_dispatch(). It gives a fault of an agent
 * thread to the JVM, and treats all others as the application has set. All other actions of the JVM are stored and shown to
 * it, but never run (it runs with -Xrs). Agent threads always block all signals except those that they need.
 *
 * The fifth is SIGTRAP (and SIGILL for the same reason): once an instruction is to be trapped, or the application handles or
 * blocks the signal. Traps at the addresses of header.traps are ours, on any thread; for all others signals_dispatch() does
 * what the kernel would do. This holds in forked children too, which have the same trapping bytes, and in vfork children
 * until they execute another program. One limit: a program that ignores these signals, and has trapped instructions,
 * executes other programs with the default action instead of SIG_IGN. To preserve SIG_IGN, every exec and spawn function
 * would need a wrapper, and the process would be exposed to its own trapping bytes meanwhile.
 *
 * signals_dispatch() runs in signal context: no malloc, no stdio, no locks, no JNI.
 */
#include "process/dispositions.h"

#include "os/next.h"
#include "os/self.h"
#include "os/signal_block.h"
#include "process/actions.h"
#include "process/dispatch.h"
#include "process/trap_bit.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

static _Atomic bool dispatched[SIGNALS];
static _Atomic bool kept[SIGNALS];         /* dispatched permanently, because instructions may trap */
static _Atomic uint64_t traps_in_mask[SIGNALS]; /* of the application's action; not in the kernel's */
static _Atomic bool interrupting[SIGNALS]; /* system calls, as siginterrupt() requested */
static _Atomic bool lock;

/*
 * The kernel gets the application's flags and mask, so that its handler runs as it would without us. Except that SIGTRAP and
 * SIGILL are never blocked, because a probe in the handler may trap; masks.c emulates their blocking for traps that are not
 * ours.
 *
 * If the application has no handler: on the alternate stack, if the thread has one. Code that runs without room for a signal
 * frame (small coroutine stacks, an overflowing stack) has an alternate stack for that reason, and needs every handler to
 * use it.
 */
static int install(int signal, const struct sigaction *action) {
  struct sigaction ours = {.sa_sigaction = signals_dispatch, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  if (has_handler(action)) {
    ours.sa_flags = SA_SIGINFO | (action->sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART));
    ours.sa_mask = action->sa_mask;
  }
  if (trap_bit(signal)) {
    ours.sa_flags |= SA_NODEFER;
    sigemptyset(&ours.sa_mask);
  }
  ours.sa_mask = without_traps(&ours.sa_mask);
  return next()->sigaction(signal, &ours, NULL);
}

/* A vfork child has its own dispositions but our memory. */
static bool in_vfork_child(void) { return process_pid && getpid() != process_pid; }

/* To libc and the kernel, without TRAPS in the mask. */
static int pass_on(int signal, const struct sigaction *action, struct sigaction *old) {
  struct sigaction passed;
  uint64_t shown = traps_in_mask[signal], masked = shown;
  if (action) {
    masked = mask_word(&action->sa_mask) & TRAPS;
    passed = *action;
    passed.sa_mask = without_traps(&action->sa_mask);
    action = &passed;
  }
  int result = next()->sigaction(signal, action, old);
  if (result == 0) {
    traps_in_mask[signal] = masked;
    if (old) {
      add_to_mask(&old->sa_mask, shown);
    }
  }
  return result;
}

/* Signals are blocked while the lock is held, so no handler waits for the code that it interrupted. */
static void acquire(sigset_t *before) {
  signals_block_all(before);
  while (atomic_exchange_explicit(&lock, true, memory_order_acquire)) {
    sched_yield();
  }
}

static void release(const sigset_t *before) {
  atomic_store_explicit(&lock, false, memory_order_release);
  signals_restore(before);
}

/* With the lock held: 0, or -1 and errno. */
static int begin_dispatch(int signal) {
  if (!dispatched[signal]) {
    struct sigaction current;
    int result = pass_on(signal, NULL, &current);
    if (result == 0) {
      set_application_action(signal, &current);
      result = install(signal, &current);
    }
    dispatched[signal] = result == 0;
    return result;
  }
  return 0;
}

/* With the lock held, as begin_dispatch(). */
static int keep(int signal) {
  int result = begin_dispatch(signal);
  kept[signal] = result == 0;
  return result;
}

int64_t signals_take(uint64_t traps) {
  bool some = (traps & trap_bit(SIGTRAP) && !kept[SIGTRAP]) || (traps & trap_bit(SIGILL) && !kept[SIGILL]);
  if (!some || in_vfork_child()) {
    return 0;
  }
  sigset_t before;
  int error = errno;
  int64_t result = 0;
  acquire(&before);
  for (int signal = 1; signal < SIGNALS && result == 0; signal++) {
    if (traps & trap_bit(signal) && keep(signal) != 0) {
      result = -errno;
    }
  }
  release(&before);
  errno = error;
  return result;
}

int64_t signals_catch_traps(void) { return signals_take(TRAPS); }

void signals_interrupt_agent(void) {
  sigset_t before;
  struct sigaction ours;
  acquire(&before);
  if (begin_dispatch(SIGILL) == 0 && next()->sigaction(SIGILL, NULL, &ours) == 0) {
    ours.sa_flags &= ~SA_RESTART;
    next()->sigaction(SIGILL, &ours, NULL);
  }
  release(&before);
}

static uint64_t handled(int signal) {
  if (!dispatched[signal]) {
    return 0;
  }
  struct sigaction action = application_action(signal);
  return has_handler(&action) ? trap_bit(signal) : 0;
}

uint64_t signals_traps_handled(void) { return handled(SIGTRAP) | handled(SIGILL); }

static int set_jvm_action(int signal, const struct sigaction *action, struct sigaction *old) {
  sigset_t before;
  acquire(&before);
  if (old) {
    *old = jvm_actions[signal];
  }
  if (action) {
    jvm_actions[signal] = *action;
    if (signal_is_fault(signal)) {
      begin_dispatch(signal);
    }
  }
  release(&before);
  return 0;
}

static int set_action(int signal, const struct sigaction *action, struct sigaction *old) {
  if (signal < 1 || signal >= SIGNALS) {
    return next()->sigaction(signal, action, old);
  }
  if (is_agent_thread) {
    return set_jvm_action(signal, action, old);
  }
  if (!signal_is_fault(signal) && !trap_bit(signal)) {
    return pass_on(signal, action, old);
  }
  if (in_vfork_child()) {
    bool ours = kept[signal]; /* until exec the code has our trapping bytes */
    int result = next()->sigaction(signal, ours ? NULL : action, old);
    if (result == 0 && old && old->sa_sigaction == signals_dispatch) {
      *old = application_action(signal);
    }
    return result;
  }
  if (process_is_confined && !dispatched[signal]) {
    return pass_on(signal, action, old);
  }
  sigset_t before;
  int result = 0;
  acquire(&before);
  if (trap_bit(signal) && action && has_handler(action)) {
    keep(signal);
  }
  if (!dispatched[signal]) {
    result = pass_on(signal, action, old);
  } else {
    struct sigaction current = application_action(signal);
    if (action) {
      struct sigaction wanted = *action; /* may be the same memory as old */
      wanted.sa_flags |= SA_RESTORER;    /* libc gives it to the kernel, which shows it in queries */
      set_application_action(signal, &wanted);
      result = install(signal, &wanted);
    }
    if (old) {
      *old = current;
    }
  }
  release(&before);
  return result;
}

struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

/* Sets the kernel's action by system call instead of libc's function, with libc's restorer. */
long signals_raw_sigaction(int signal, const struct kernel_action *action, struct kernel_action *old) {
  struct sigaction wanted, previous;
  if (action) {
    wanted = (struct sigaction){.sa_handler = action->handler, .sa_flags = (int)action->flags};
    memcpy(&wanted.sa_mask, &action->mask, sizeof action->mask);
  }
  if (set_action(signal, action ? &wanted : NULL, old ? &previous : NULL) != 0) {
    return -1;
  }
  if (old) {
    *old = (struct kernel_action){previous.sa_handler, (unsigned)previous.sa_flags, previous.sa_restorer, 0};
    memcpy(&old->mask, &previous.sa_mask, sizeof old->mask);
  }
  return 0;
}

static void give_back(void) {
  for (int signal = 1; signal < SIGNALS; signal++) {
    if (dispatched[signal] && !kept[signal]) {
      struct sigaction action = application_action(signal);
      struct sigaction current;
      /* Not after signals_dispatch() has reset it to end the process. */
      if (next()->sigaction(signal, NULL, &current) == 0 && current.sa_sigaction == signals_dispatch) {
        next()->sigaction(signal, &action, NULL);
      }
      dispatched[signal] = false;
    }
  }
}

void signals_forked(void) {
  atomic_store(&lock, false);
  memset(jvm_actions, 0, sizeof jvm_actions); /* of the parent's JVM; a JVM that starts here must find the defaults */
  give_back();
}

void signals_give_back(void) {
  sigset_t before;
  acquire(&before);
  give_back();
  release(&before);
}

bool signal_is_virtual(int signal) {
  return signal >= 1 && signal < SIGNALS && (is_agent_thread || trap_bit(signal) || signal_is_fault(signal));
}

typedef void (*handler)(int);

static handler set_handler(int signal, handler function, int flags) {
  struct sigaction action = {.sa_handler = function, .sa_flags = flags};
  struct sigaction old;
  if (!(flags & SA_NODEFER)) {
    sigaddset(&action.sa_mask, signal);
  }
  return set_action(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

EXPORT int sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old) {
  return set_action(signal, action, old);
}

EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  return set_action(signal, action, old);
}

static handler bsd(int signal, handler function) {
  if (function != SIG_ERR && signal_is_virtual(signal)) {
    return set_handler(signal, function, interrupting[signal] ? 0 : SA_RESTART);
  }
  return next()->signal(signal, function);
}

static handler sysv(int signal, handler function) {
  if (function != SIG_ERR && signal_is_virtual(signal)) {
    return set_handler(signal, function, (int)(SA_RESETHAND | SA_NODEFER));
  }
  return next()->sysv_signal(signal, function);
}

EXPORT handler signal(int number, handler function) { return bsd(number, function); }
EXPORT handler bsd_signal(int number, handler function) { return bsd(number, function); }
EXPORT handler ssignal(int number, handler function) { return bsd(number, function); }
EXPORT handler sysv_signal(int number, handler function) { return sysv(number, function); }
EXPORT handler __sysv_signal(int number, handler function) { return sysv(number, function); }

EXPORT int sigignore(int number) { return set_handler(number, SIG_IGN, SA_NODEFER) == SIG_ERR ? -1 : 0; }

EXPORT int siginterrupt(int number, int interrupts) {
  if (!signal_is_virtual(number)) {
    return next()->siginterrupt(number, interrupts);
  }
  struct sigaction action;
  interrupting[number] = interrupts != 0;
  set_action(number, NULL, &action);
  action.sa_flags = interrupts ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return set_action(number, &action, NULL);
}

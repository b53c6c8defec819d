/*
 * Two sets of dispositions in one process.
 *
 * The application's are the kernel's, with four exceptions once the JVM has asked for them: SIGSEGV, SIGBUS,
 * SIGFPE and SIGILL, which the JVM raises on purpose. For these the kernel has dispatch(), which goes by the thread:
 * a fault of an agent thread is the JVM's, all else is what the application has set, or the default.
 * All other actions of the JVM are kept and shown to it, and never happen (it runs with -Xrs). Agent threads
 * block all signals but those that they need, whatever they ask for.
 *
 * dispatch() runs in signal context: no malloc, no stdio, no locks, no JNI.
 */
#include "shim.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNALS = 65 };

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

/*
 * The application's action for a signal, replaced as a whole while handlers read it.
 *
 * Assumes    A1 a reader is not overtaken by RING replacements between its copy and its check more than finitely often
 * Guarantees G1 a reader gets an action that was in force while it read
 * Progress   P1 readers and writers are lock-free
 *
 *   writer                                reader
 *   1 ticket = claimed++                  1 ticket = newest (acquire)
 *   2 slot[ticket % RING] = action        2 copy slot[ticket % RING]
 *   3 newest = max(newest, ticket)        3 valid when claimed - ticket < RING, else again
 */
enum { RING = 16 };
struct action_ring {
  _Atomic uint32_t claimed;
  _Atomic uint32_t newest;
  struct sigaction slot[RING];
};

static struct action_ring application_actions[SIGNALS];
static struct sigaction jvm_actions[SIGNALS];
static _Atomic bool dispatched[SIGNALS];
static _Atomic bool lock;

static bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

static void set_application_action(int signal, const struct sigaction *action) {
  struct action_ring *ring = &application_actions[signal];
  uint32_t ticket = atomic_fetch_add(&ring->claimed, 1) + 1;
  ring->slot[ticket % RING] = *action;
  uint32_t newest = atomic_load(&ring->newest);
  while ((int32_t)(ticket - newest) > 0 && !atomic_compare_exchange_weak(&ring->newest, &newest, ticket)) {
  }
}

static struct sigaction application_action(int signal) {
  struct action_ring *ring = &application_actions[signal];
  struct sigaction action;
  uint32_t ticket;
  do {
    ticket = atomic_load_explicit(&ring->newest, memory_order_acquire);
    action = ring->slot[ticket % RING];
    atomic_thread_fence(memory_order_acquire);
  } while (atomic_load(&ring->claimed) - ticket >= RING);
  return action;
}

static void call(const struct sigaction *action, int signal, siginfo_t *info, void *context) {
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(signal, info, context);
  } else {
    action->sa_handler(signal);
  }
}

static bool has_handler(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void dispatch(int signal, siginfo_t *info, void *context) {
  int error = errno;
  bool sent = info->si_code <= 0; /* by a process, not by the kernel */
  if (is_agent_thread) {
    if (sent) {
      /* It is for the process, and this thread was as good as any to the kernel. */
      syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), signal, info);
    } else if (atomic_load(&process_exiting) || !has_handler(&jvm_actions[signal])) {
      process_park();
    } else {
      call(&jvm_actions[signal], signal, info, context);
    }
    errno = error;
    return;
  }
  struct sigaction action = application_action(signal);
  if (action.sa_handler == SIG_IGN && sent) {
    errno = error;
    return;
  }
  if (!has_handler(&action)) {
    /* The kernel does not ignore faults. Return to the instruction: the true signal ends the process there. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    next()->sigaction(signal, &standard, NULL);
    if (sent) {
      syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    }
    errno = error;
    return;
  }
  if (action.sa_flags & (int)SA_RESETHAND) {
    struct sigaction standard = action;
    standard.sa_handler = SIG_DFL;
    set_application_action(signal, &standard);
  }
  errno = error;
  call(&action, signal, info, context);
}

/* The kernel's flags and mask are the application's, so that its handler runs as it would without us. */
static int install(int signal, const struct sigaction *action) {
  struct sigaction ours = {.sa_sigaction = dispatch, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  if (has_handler(action)) {
    ours.sa_flags = SA_SIGINFO | (action->sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART));
    ours.sa_mask = action->sa_mask;
  }
  return next()->sigaction(signal, &ours, NULL);
}

void signals_block_all(sigset_t *before) {
  /* By system call: libc's leaves out the signals that it uses itself. */
  uint64_t all = ~0ULL;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof all);
}

/* libc's setuid makes each thread change its ids, by signals that it keeps for itself, and waits until all have. */
static bool is_libcs_own(int signal) { return signal == 32 || signal == 33; }

static bool agent_takes(int signal) { return is_fault(signal) || signal == SIGTRAP || is_libcs_own(signal); }

void signals_block_for_agent(sigset_t *before) {
  uint64_t blocked = ~0ULL;
  for (int signal = 1; signal < SIGNALS; signal++) {
    if (agent_takes(signal)) {
      blocked &= ~(1ULL << (signal - 1));
    }
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, before, sizeof blocked);
}

void signals_restore(const sigset_t *before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof(uint64_t));
}

/* Signals are blocked while it is held, so no handler waits for the code that it interrupted. */
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

static int set_jvm_action(int signal, const struct sigaction *action, struct sigaction *old) {
  sigset_t before;
  acquire(&before);
  if (old) {
    *old = jvm_actions[signal];
  }
  if (action) {
    jvm_actions[signal] = *action;
    if (is_fault(signal) && !dispatched[signal]) {
      struct sigaction current;
      next()->sigaction(signal, NULL, &current);
      set_application_action(signal, &current);
      dispatched[signal] = install(signal, &current) == 0;
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
  if (!is_fault(signal)) {
    return next()->sigaction(signal, action, old);
  }
  if (getpid() != process_pid) {
    /* A vfork child has its own dispositions but our memory. */
    int result = next()->sigaction(signal, action, old);
    if (result == 0 && old && old->sa_sigaction == dispatch) {
      *old = application_action(signal);
    }
    return result;
  }
  sigset_t before;
  int result = 0;
  acquire(&before);
  if (!dispatched[signal]) {
    result = next()->sigaction(signal, action, old);
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

void signals_forked(void) {
  atomic_store(&lock, false);
  for (int signal = 1; signal < SIGNALS; signal++) {
    if (dispatched[signal]) {
      struct sigaction action = application_action(signal);
      struct sigaction current;
      /* Not when it has been reset, in dispatch(), to end the process. */
      if (next()->sigaction(signal, NULL, &current) == 0 && current.sa_sigaction == dispatch) {
        next()->sigaction(signal, &action, NULL);
      }
      dispatched[signal] = false;
    }
  }
}

/* Whether libc's own function must not see the signal. */
static bool is_virtual(int signal) {
  return signal >= 1 && signal < SIGNALS && (is_agent_thread || dispatched[signal]);
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
  if (function != SIG_ERR && is_virtual(signal)) {
    return set_handler(signal, function, SA_RESTART);
  }
  return next()->signal(signal, function);
}

static handler sysv(int signal, handler function) {
  if (function != SIG_ERR && is_virtual(signal)) {
    return set_handler(signal, function, (int)(SA_RESETHAND | SA_NODEFER));
  }
  return next()->sysv_signal(signal, function);
}

EXPORT handler signal(int number, handler function) { return bsd(number, function); }
EXPORT handler bsd_signal(int number, handler function) { return bsd(number, function); }
EXPORT handler ssignal(int number, handler function) { return bsd(number, function); }
EXPORT handler sysv_signal(int number, handler function) { return sysv(number, function); }
EXPORT handler __sysv_signal(int number, handler function) { return sysv(number, function); }

EXPORT handler sigset(int number, handler function) {
  if (!is_virtual(number) || function == SIG_ERR) {
    return next()->sigset(number, function);
  }
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, number);
  handler old;
  if (function == SIG_HOLD) {
    struct sigaction current;
    sigprocmask(SIG_BLOCK, &set, &before);
    set_action(number, NULL, &current);
    old = current.sa_handler;
  } else {
    struct sigaction action = {.sa_handler = function}, current;
    set_action(number, &action, &current);
    old = current.sa_handler;
    sigprocmask(SIG_UNBLOCK, &set, &before);
  }
  return sigismember(&before, number) == 1 ? SIG_HOLD : old;
}

EXPORT int sigignore(int number) { return set_handler(number, SIG_IGN, SA_NODEFER) == SIG_ERR ? -1 : 0; }

EXPORT int siginterrupt(int number, int interrupts) {
  if (!is_virtual(number)) {
    return next()->siginterrupt(number, interrupts);
  }
  struct sigaction action;
  set_action(number, NULL, &action);
  action.sa_flags = interrupts ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return set_action(number, &action, NULL);
}

/* ---- masks */

typedef int (*mask_function)(int, const sigset_t *, sigset_t *);

static int set_agent_mask(mask_function function, int how, const sigset_t *set, sigset_t *old) {
  sigset_t kept = *set;
  for (int signal = 1; signal < SIGNALS; signal++) {
    if (agent_takes(signal)) {
      continue;
    }
    if (how == SIG_UNBLOCK) {
      sigdelset(&kept, signal);
    } else {
      sigaddset(&kept, signal);
    }
  }
  return function(how, &kept, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  if (is_agent_thread && set) {
    return set_agent_mask(next()->pthread_sigmask, how, set, old);
  }
  return next()->pthread_sigmask(how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  if (is_agent_thread && set) {
    return set_agent_mask(next()->sigprocmask, how, set, old);
  }
  return next()->sigprocmask(how, set, old);
}

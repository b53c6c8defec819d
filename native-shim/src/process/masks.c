/*
 * Masks. Those of agent threads have all signals but the ones that they need. Those of application threads never have
 * SIGTRAP, from the start of the process on: a thread that meets a trapping byte while SIGTRAP is blocked is the end
 * of the process. A bit per thread remembers what the application wants, and is what the application sees; a SIGTRAP
 * that is *sent* to a thread that wants none waits until it does.
 *
 * What the bit cannot follow:
 *   - exec'd and spawned programs inherit a mask without SIGTRAP. (A spawn attribute's mask is left as it is: between
 *     its use and exec only libc's code runs.)
 *   - a handler whose sa_mask has SIGTRAP runs with the bit of the code that it interrupted, but for SIGTRAP's own;
 *   - setcontext and swapcontext leave the bit as it is, and so does a thread attribute's mask;
 *   - what a vfork child does to its mask, it does to the bit of its parent's thread;
 *   - a SIGTRAP sent to the process waits as soon as the thread that the kernel chose wants none, though another may
 *     want it, or be in sigwait; signalfd does not see it.
 * What is not guarded: masks set by a system call that libc's functions do not make, and a handler that adds SIGTRAP
 * to the uc_sigmask it returns to.
 */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static const uint64_t TRAP = 1ULL << (SIGTRAP - 1);

/* Of the application, which believes that SIGTRAP is blocked. */
static THREAD_LOCAL bool trap_blocked;

/* A SIGTRAP that has been sent, as much as tells its receiver. */
struct sent {
  int code;
  pid_t pid;
  uid_t uid;
  union sigval value;
};

/* One for a thread and one for the process, as for any signal that is not a real-time one: further ones are lost. */
enum { NO_SIGNAL, BEING_COPIED, WAITS };
struct waiting_signal {
  _Atomic int state;
  struct sent sent;
};
static THREAD_LOCAL struct waiting_signal for_thread;
static struct waiting_signal for_process;

/* The kernel's mask, and all that matters of libc's. */
static uint64_t word(const void *set) { return *(const uint64_t *)set; }

static void add_trap(void *set) { *(uint64_t *)set |= TRAP; }

static sigset_t without_trap(const void *set) {
  sigset_t result = {{word(set) & ~TRAP}};
  return result;
}

static void change_kernel_mask(int how, uint64_t set) { raw_syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof set); }

/* ---- signals that wait */

static void put(struct waiting_signal *place, const siginfo_t *info) {
  int state = NO_SIGNAL;
  if (atomic_compare_exchange_strong(&place->state, &state, BEING_COPIED)) {
    place->sent = (struct sent){info->si_code, info->si_pid, info->si_uid, info->si_value};
    atomic_store(&place->state, WAITS);
  }
}

static bool take(struct waiting_signal *place, siginfo_t *info) {
  int state = WAITS;
  if (!atomic_compare_exchange_strong(&place->state, &state, BEING_COPIED)) {
    return false;
  }
  memset(info, 0, sizeof *info);
  info->si_signo = SIGTRAP;
  info->si_code = place->sent.code;
  info->si_pid = place->sent.pid;
  info->si_uid = place->sent.uid;
  info->si_value = place->sent.value;
  atomic_store(&place->state, NO_SIGNAL);
  return true;
}

static bool take_any(siginfo_t *info) { return take(&for_thread, info) || take(&for_process, info); }

/* For an application thread. Agent threads would only send them back. */
static bool any_waits(void) {
  return !is_agent_thread && (atomic_load_explicit(&for_thread.state, memory_order_relaxed) == WAITS ||
                              atomic_load_explicit(&for_process.state, memory_order_relaxed) == WAITS);
}

void masks_queue_to_self(siginfo_t *info) {
  int error = errno;
  raw_syscall(SYS_rt_tgsigqueueinfo, getpid(), raw_syscall(SYS_gettid), SIGTRAP, info);
  errno = error;
}

static void deliver(void) {
  siginfo_t info;
  if (any_waits() && take_any(&info)) {
    masks_queue_to_self(&info);
  }
}

/* ---- the thread's bit */

bool masks_trap_blocked(void) { return trap_blocked; }

void masks_inherit(bool blocked) { trap_blocked = blocked; }

/*
 * A thread that takes a mask looks for signals that were sent to the process, and may be faster than the thread for which
 * the kernel has meant them. One of the agent would run the application's handler, as long as it is not known for one.
 */
int masks_block_at_birth(pthread_attr_t *attributes) {
  sigset_t blocked = {{signals_blocked_by_agent() | TRAP}};
  return next()->pthread_attr_setsigmask_np(attributes, &blocked);
}

/* What waits for the process's main thread is left to it. */
void masks_unblock_after_birth(void) {
  enum { TRIES = 1000 };
  uint64_t waiting = 0;
  for (int i = 0; i < TRIES; i++) {
    raw_syscall(SYS_rt_sigpending, &waiting, sizeof waiting);
    if (!(waiting & TRAP)) {
      break;
    }
    sched_yield();
  }
  change_kernel_mask(SIG_UNBLOCK, TRAP);
}

void masks_start(void) {
  uint64_t now = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now);
  if (now & TRAP) {
    signals_take_trap(); /* first: one may wait already */
    trap_blocked = true;
    change_kernel_mask(SIG_UNBLOCK, TRAP);
  }
}

void masks_forked(void) {
  atomic_store(&for_thread.state, NO_SIGNAL);
  atomic_store(&for_process.state, NO_SIGNAL);
}

static void block(void) {
  if (!trap_blocked) {
    signals_take_trap(); /* for those that are sent from now on */
    trap_blocked = true;
  }
}

static void set_blocked(bool blocked) {
  if (blocked) {
    block();
  } else {
    trap_blocked = false;
    atomic_signal_fence(memory_order_seq_cst);
    deliver();
  }
}

void masks_hold_back(const siginfo_t *info) { put(info->si_code == SI_TKILL ? &for_thread : &for_process, info); }

void masks_call_trap_handler(const struct sigaction *action, siginfo_t *info, ucontext_t *context) {
  uint64_t mask = word(&action->sa_mask);
  bool defers = !(action->sa_flags & SA_NODEFER) || mask & TRAP;
  if (mask & ~TRAP) {
    change_kernel_mask(SIG_BLOCK, mask & ~TRAP);
  }
  if (trap_blocked) {
    add_trap(&context->uc_sigmask);
  }
  trap_blocked = trap_blocked || defers;
  signals_call(action, SIGTRAP, info, context);
  trap_blocked = (word(&context->uc_sigmask) & TRAP) != 0;
  *(uint64_t *)&context->uc_sigmask &= ~TRAP;
  if (!trap_blocked && any_waits()) {
    /* It comes when this handler has returned, not inside of it. */
    change_kernel_mask(SIG_BLOCK, TRAP);
    deliver();
  }
}

/* ---- sigprocmask and what is made of it */

static bool blocked_after(int how, uint64_t set) {
  switch (how) {
    case SIG_BLOCK: return trap_blocked || set & TRAP;
    case SIG_UNBLOCK: return trap_blocked && !(set & TRAP);
    case SIG_SETMASK: return (set & TRAP) != 0;
    default: return trap_blocked;
  }
}

typedef int (*mask_function)(int, const sigset_t *, sigset_t *);

static int set_agent_mask(mask_function function, int how, const sigset_t *set, sigset_t *old) {
  uint64_t kept = word(set);
  if (how == SIG_UNBLOCK) {
    kept &= ~signals_blocked_by_agent();
  } else {
    kept = (kept | signals_blocked_by_agent()) & ~TRAP;
  }
  sigset_t changed = {{kept}};
  return function(how, &changed, old);
}

static __attribute__((noinline)) int set_virtual_mask(mask_function function, int how, const sigset_t *set,
                                                      sigset_t *old) {
  if (is_agent_thread) {
    return set ? set_agent_mask(function, how, set, old) : function(how, set, old);
  }
  bool before = trap_blocked, after = before;
  sigset_t kept;
  if (set) {
    after = blocked_after(how, word(set));
    kept = without_trap(set);
    set = &kept;
  }
  if (after) {
    block();
  }
  int result = function(how, set, old);
  if (result != 0) {
    after = before;
  } else if (old && before) {
    add_trap(old);
  }
  set_blocked(after);
  return result;
}

/* Nearly all calls: libc's own, by a tail call. */
static inline bool is_plain(const void *set) {
  return !is_agent_thread && !trap_blocked && !(set && word(set) & TRAP);
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  mask_function function = next()->pthread_sigmask;
  return is_plain(set) ? function(how, set, old) : set_virtual_mask(function, how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  mask_function function = next()->sigprocmask;
  return is_plain(set) ? function(how, set, old) : set_virtual_mask(function, how, set, old);
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
  return sigprocmask(how, &set, &old) == 0 ? (int)word(&old) : -1;
}

EXPORT int sigblock(int mask) { return set_bsd_mask(SIG_BLOCK, mask); }
EXPORT int sigsetmask(int mask) { return set_bsd_mask(SIG_SETMASK, mask); }
EXPORT int siggetmask(void) { return set_bsd_mask(SIG_BLOCK, 0); }

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
  if (!set || !(word(set) & TRAP)) {
    return next()->pthread_attr_setsigmask_np(attributes, set);
  }
  sigset_t kept = without_trap(set);
  return next()->pthread_attr_setsigmask_np(attributes, &kept);
}

/*
 * libc calls a timer's function in a thread with all signals blocked. Ours comes first. What it must know is never
 * freed, because a call may be under way while its timer is deleted; so equal ones are shared.
 */
struct notification {
  void (*function)(union sigval);
  union sigval value;
  struct notification *next;
};
static _Atomic(struct notification *) notifications[256];

static void notify(union sigval pointer) {
  const struct notification *notification = pointer.sival_ptr;
  trap_blocked = true;
  change_kernel_mask(SIG_UNBLOCK, TRAP);
  notification->function(notification->value);
}

static struct notification *notification_of(void (*function)(union sigval), union sigval value) {
  uint64_t hash = ((uintptr_t)value.sival_ptr ^ (uintptr_t)function) * 0x9E3779B97F4A7C15ULL >> 56;
  struct notification *first = atomic_load(&notifications[hash]);
  for (struct notification *at = first; at; at = at->next) {
    if (at->function == function && at->value.sival_ptr == value.sival_ptr) {
      return at;
    }
  }
  struct notification *made = malloc(sizeof *made);
  if (made) {
    *made = (struct notification){function, value, first};
    while (!atomic_compare_exchange_weak(&notifications[hash], &made->next, made)) {
    }
  }
  return made;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer) {
  if (!event || event->sigev_notify != SIGEV_THREAD) {
    return next()->timer_create(clock, event, timer);
  }
  struct sigevent changed = *event;
  changed.sigev_notify_function = notify;
  changed.sigev_value.sival_ptr = notification_of(event->sigev_notify_function, event->sigev_value);
  if (!changed.sigev_value.sival_ptr) {
    errno = EAGAIN;
    return -1;
  }
  return next()->timer_create(clock, &changed, timer);
}

/* ---- calls that wait with another mask */

struct other_mask {
  sigset_t set;
  bool outer; /* the thread's bit before and after */
  bool held;  /* by the kernel, so that none comes between here and the wait */
};

static void begin_other_mask(struct other_mask *other, const void *mask) {
  bool inner = word(mask) & TRAP;
  other->set = without_trap(mask);
  other->outer = trap_blocked;
  /* Without a handler it makes no difference when it comes: it ends the process, or is ignored. */
  other->held = !inner && trap_blocked && signals_trap_is_handled();
  if (other->held) {
    change_kernel_mask(SIG_BLOCK, TRAP);
  }
  set_blocked(inner);
}

/* Also when the thread is cancelled in the wait. */
static void end_other_mask(struct other_mask *other) {
  set_blocked(other->outer);
  if (other->held) {
    change_kernel_mask(SIG_UNBLOCK, TRAP);
  }
}

static bool is_plain_wait(const void *mask) { return !mask || is_agent_thread || is_plain(mask); }

/* The call has the mask to wait with as `other`. */
#define WITH_OTHER_MASK(mask, call)                                     \
  do {                                                                  \
    const void *other = (mask);                                         \
    if (is_plain_wait(other)) {                                         \
      return call;                                                      \
    }                                                                   \
    __attribute__((cleanup(end_other_mask))) struct other_mask changed; \
    begin_other_mask(&changed, other);                                  \
    other = &changed.set;                                               \
    return call;                                                        \
  } while (0)

EXPORT int sigsuspend(const sigset_t *mask) { WITH_OTHER_MASK(mask, next()->sigsuspend(other)); }
EXPORT int __sigsuspend(const sigset_t *mask) { return sigsuspend(mask); }

EXPORT int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
  WITH_OTHER_MASK(mask, next()->ppoll(files, count, timeout, other));
}

int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                       size_t size) {
  WITH_OTHER_MASK(mask, next()->ppoll_chk(files, count, timeout, other, size));
}

EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict exceptions,
                   const struct timespec *restrict timeout, const sigset_t *restrict mask) {
  WITH_OTHER_MASK(mask, next()->pselect(count, reads, writes, exceptions, timeout, other));
}

EXPORT int epoll_pwait(int file, struct epoll_event *events, int count, int timeout, const sigset_t *mask) {
  WITH_OTHER_MASK(mask, next()->epoll_pwait(file, events, count, timeout, other));
}

EXPORT int epoll_pwait2(int file, struct epoll_event *events, int count, const struct timespec *timeout,
                        const sigset_t *mask) {
  if (!next()->epoll_pwait2) { /* before glibc 2.35; a program that looks for it finds ours */
    errno = ENOSYS;
    return -1;
  }
  WITH_OTHER_MASK(mask, next()->epoll_pwait2(file, events, count, timeout, other));
}

static int pause_without(int number) {
  sigset_t set;
  if (sigprocmask(SIG_BLOCK, NULL, &set) != 0 || sigdelset(&set, number) != 0) {
    return -1;
  }
  return sigsuspend(&set);
}

/* <signal.h> gives the name to the other one. */
EXPORT int bsd_sigpause(int mask) __asm__("sigpause");
EXPORT int bsd_sigpause(int mask) {
  sigset_t set = {{(unsigned)mask}};
  return sigsuspend(&set);
}

int __xpg_sigpause(int number);
int __sigpause(int number_or_mask, int is_number);
EXPORT int __xpg_sigpause(int number) { return pause_without(number); }
EXPORT int __sigpause(int number_or_mask, int is_number) {
  return is_number ? pause_without(number_or_mask) : bsd_sigpause(number_or_mask);
}

/* ---- calls that ask for signals that wait */

EXPORT int sigpending(sigset_t *set) {
  int result = next()->sigpending(set);
  if (result == 0 && any_waits()) {
    add_trap(set);
  }
  return result;
}

static bool take_wanted(const sigset_t *set, siginfo_t *info) {
  siginfo_t unused;
  return set && word(set) & TRAP && any_waits() && take_any(info ? info : &unused);
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                        const struct timespec *restrict timeout) {
  return take_wanted(set, info) ? SIGTRAP : next()->sigtimedwait(set, info, timeout);
}

EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) {
  return take_wanted(set, info) ? SIGTRAP : next()->sigwaitinfo(set, info);
}

EXPORT int sigwait(const sigset_t *restrict set, int *restrict number) {
  if (take_wanted(set, NULL)) {
    *number = SIGTRAP;
    return 0;
  }
  return next()->sigwait(set, number);
}

/* ---- jumps that restore a mask. The bit travels in a part of the saved mask that neither libc nor the kernel uses. */

enum { LAST_WORD = sizeof(sigset_t) / sizeof(unsigned long) - 1 };

/* By a tail call, as swapcontext: libc saves the stack pointer and the return address of its caller. */
EXPORT int __sigsetjmp(struct __jmp_buf_tag state[1], int with_mask) {
  if (with_mask) {
    state->__saved_mask.__val[LAST_WORD] = trap_blocked;
  }
  return next()->save_jump(state, with_mask);
}

#define JUMP(name, pointer)                                              \
  EXPORT void name(struct __jmp_buf_tag state[1], int value) {             \
    if (state->__mask_was_saved) {                                       \
      set_blocked(state->__saved_mask.__val[LAST_WORD] == 1);            \
    }                                                                    \
    next()->pointer(state, value);                                       \
    __builtin_unreachable();                                             \
  }
void __longjmp_chk(struct __jmp_buf_tag state[1], int value) __attribute__((noreturn));
JUMP(longjmp, jump)
JUMP(_longjmp, jump)
JUMP(siglongjmp, jump)
JUMP(__longjmp_chk, jump_checked)

/* A mask that the application has asked for, and so has SIGTRAP, may have been put into a context. */
static void adapt(ucontext_t *to) {
  *(uint64_t *)&to->uc_sigmask &= ~TRAP;
  record_other_stack(to->uc_stack.ss_sp);
}

EXPORT int setcontext(const ucontext_t *to) {
  adapt((ucontext_t *)to);
  return next()->setcontext(to);
}

EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to) {
  adapt((ucontext_t *)to);
  return next()->swapcontext(from, to);
}

/* ---- libc's syscall() */

struct kernel_mask {
  const uint64_t *set;
  size_t size;
};

/* Of either set, none but the first word is used. */
static int raw_sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  return (int)raw_syscall(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

long masks_syscall(long number, long a, long b, long c, long d, long e, long f);
long masks_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const struct kernel_mask *of_pselect = (const struct kernel_mask *)f;
  switch (is_agent_thread ? -1 : number) {
    case SYS_rt_sigprocmask:
      if (d == sizeof(uint64_t)) {
        return set_virtual_mask(raw_sigprocmask, (int)a, (const sigset_t *)b, (sigset_t *)c);
      }
      break;
    case SYS_rt_sigaction:
      if (d == sizeof(uint64_t)) {
        return signals_raw_sigaction((int)a, (const struct kernel_action *)b, (struct kernel_action *)c);
      }
      break;
    case SYS_rt_sigsuspend:
      WITH_OTHER_MASK((const void *)a, raw_syscall(number, other, b));
    case SYS_ppoll:
      WITH_OTHER_MASK((const void *)d, raw_syscall(number, a, b, c, other, e));
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      WITH_OTHER_MASK((const void *)e, raw_syscall(number, a, b, c, d, other, f));
    case SYS_pselect6:
      if (of_pselect && of_pselect->set) {
        WITH_OTHER_MASK(of_pselect->set,
                        raw_syscall(number, a, b, c, d, e, (&(struct kernel_mask){other, of_pselect->size})));
      }
      break;
    default:
      alone_before_system_call(number, a, b);
      break;
  }
  return raw_syscall(number, a, b, c, d, e, f);
}

/*
 * In assembly, because a child of vfork or clone returns from it on another stack, or twice on the same one.
 * syscall() and masks_syscall() have the same parameters.
 */
__asm__(
    ".text\n"
    ".globl syscall\n"
    ".type syscall, @function\n"
    "syscall:\n"
    "  .cfi_startproc\n"
    "  cmpq $13, %rdi\n" /* rt_sigaction */
    "  je masks_syscall\n"
    "  cmpq $14, %rdi\n" /* rt_sigprocmask */
    "  je masks_syscall\n"
    "  leaq -105(%rdi), %rax\n" /* setuid to capset */
    "  cmpq $21, %rax\n"
    "  jbe masks_syscall\n"
    "  cmpq $130, %rdi\n" /* rt_sigsuspend */
    "  je masks_syscall\n"
    "  cmpq $157, %rdi\n" /* prctl */
    "  je masks_syscall\n"
    "  cmpq $270, %rdi\n" /* pselect6 */
    "  je masks_syscall\n"
    "  cmpq $271, %rdi\n" /* ppoll */
    "  je masks_syscall\n"
    "  cmpq $272, %rdi\n" /* unshare */
    "  je masks_syscall\n"
    "  cmpq $281, %rdi\n" /* epoll_pwait */
    "  je masks_syscall\n"
    "  cmpq $308, %rdi\n" /* setns */
    "  je masks_syscall\n"
    "  cmpq $317, %rdi\n" /* seccomp */
    "  je masks_syscall\n"
    "  cmpq $441, %rdi\n" /* epoll_pwait2 */
    "  je masks_syscall\n"
    "  jmp raw_syscall\n"
    "  .cfi_endproc\n"
    ".size syscall, .-syscall\n");

_Static_assert(SYS_rt_sigaction == 13 && SYS_rt_sigprocmask == 14 && SYS_setuid == 105 && SYS_capset == 126 &&
                   SYS_rt_sigsuspend == 130 && SYS_prctl == 157 && SYS_pselect6 == 270 && SYS_ppoll == 271 &&
                   SYS_unshare == 272 && SYS_epoll_pwait == 281 && SYS_setns == 308 && SYS_seccomp == 317 &&
                   SYS_epoll_pwait2 == 441,
               "the numbers in syscall");

/* Calls that wait with a temporary mask, and calls that ask for pending signals. */
#include "process/mask_waits.h"

#include "os/next.h"
#include "process/dispositions.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

void begin_other_mask(struct other_mask *other, const void *mask) {
  uint64_t inner = mask_word(mask) & TRAPS;
  other->set = without_traps(mask);
  other->outer = traps_blocked;
  /* Without a handler the time of delivery does not matter: the signal ends the process or is ignored. */
  other->held = traps_blocked & ~inner & signals_traps_handled();
  if (other->held) {
    change_kernel_mask(SIG_BLOCK, other->held);
  }
  masks_set_blocked(inner);
}

void end_other_mask(struct other_mask *other) {
  masks_set_blocked(other->outer);
  if (other->held) {
    change_kernel_mask(SIG_UNBLOCK, other->held);
  }
}

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
  if (!next()->epoll_pwait2) { /* before glibc 2.35; dlsym() still finds this wrapper */
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

/* <signal.h> gives this name to the other function. */
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

/* ---- calls that ask for pending signals */

EXPORT int sigpending(sigset_t *set) {
  int result = next()->sigpending(set);
  if (result == 0) {
    add_to_mask(set, traps_waiting());
  }
  return result;
}

/* The number of a pending signal; 0 if libc must look for others. */
static int take_wanted(const sigset_t *set, siginfo_t *info) {
  siginfo_t unused;
  uint64_t wanted = set ? mask_word(set) & traps_waiting() : 0;
  return wanted ? trap_take(wanted, info ? info : &unused) : 0;
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                        const struct timespec *restrict timeout) {
  int taken = take_wanted(set, info);
  return taken ? taken : next()->sigtimedwait(set, info, timeout);
}

EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) {
  int taken = take_wanted(set, info);
  return taken ? taken : next()->sigwaitinfo(set, info);
}

EXPORT int sigwait(const sigset_t *restrict set, int *restrict number) {
  int taken = take_wanted(set, NULL);
  if (taken) {
    *number = taken;
    return 0;
  }
  return next()->sigwait(set, number);
}

/*
 * libc calls a timer's function in a thread with all signals blocked; our function runs first. Its argument is never freed,
 * because a call may be under way when its timer is deleted; equal arguments are shared.
 */
#include "os/next.h"
#include "process/trap_bit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct notification {
  void (*function)(union sigval);
  union sigval value;
  struct notification *next;
};
static _Atomic(struct notification *) notifications[256];

static void notify(union sigval pointer) {
  const struct notification *notification = pointer.sival_ptr;
  traps_blocked = TRAPS;
  change_kernel_mask(SIG_UNBLOCK, TRAPS);
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

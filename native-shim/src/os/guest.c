#include "os/guest.h"

#include "os/sys.h"

#include <linux/ioprio.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif
enum {
  KEEP_POLICY = 0x08,    /* flags of sched_setattr(2): SCHED_FLAG_KEEP_POLICY */
  KEEP_PARAMETERS = 0x10,
  CLAMP_MIN = 0x20,
  CLAMP_MAX = 0x40,
};
static const uint32_t NO_CLAMP = ~0u; /* resets the clamp */

/* The kernel's default. The agent polls; a program may have set a slack of seconds, and real-time threads have 0. */
static const unsigned long TIMER_SLACK_NANOS = 50000;

/* struct sched_attr, version 1; libc does not define it. */
struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
  uint32_t clamp_min, clamp_max;
};

static void settle_processor(void) {
  struct attributes now = {.size = sizeof now};
  if (raw_syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0) {
    return;
  }
  bool real_time = now.policy == SCHED_FIFO || now.policy == SCHED_RR || now.policy == SCHED_DEADLINE;
  if (real_time || now.nice < 0) {
    struct attributes other = {
        .size = sizeof other, .policy = real_time ? SCHED_OTHER : now.policy, .nice = now.nice > 0 ? now.nice : 0};
    raw_syscall(SYS_sched_setattr, 0, &other, 0);
  }
  if (now.clamp_min != 0) {
    struct attributes unclamped = {.size = sizeof unclamped,
                                   .flags = KEEP_POLICY | KEEP_PARAMETERS | CLAMP_MIN | CLAMP_MAX,
                                   .clamp_min = NO_CLAMP,
                                   .clamp_max = NO_CLAMP};
    raw_syscall(SYS_sched_setattr, 0, &unclamped, 0);
  }
}

static void settle_disk(void) {
  unsigned priority = (unsigned)raw_syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
  bool before_others = IOPRIO_PRIO_CLASS(priority) == IOPRIO_CLASS_RT ||
                       (IOPRIO_PRIO_CLASS(priority) == IOPRIO_CLASS_BE && IOPRIO_PRIO_DATA(priority) < IOPRIO_NORM);
  if (before_others) {
    raw_syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0));
  }
}

/* Instructions that fault in the calling thread because they do in its creator. The JVM needs RDTSC and CPUID. */
static void settle_instructions(void) {
  enum { ARCH_GET_CPUID = 0x1011, ARCH_SET_CPUID = 0x1012 };
  if (tsc_is_forbidden_to_thread()) {
    raw_syscall(SYS_prctl, PR_SET_TSC, (long)PR_TSC_ENABLE, 0L, 0L, 0L);
  }
  if (raw_syscall(SYS_arch_prctl, (long)ARCH_GET_CPUID, 0L) == 0) {
    raw_syscall(SYS_arch_prctl, (long)ARCH_SET_CPUID, 1L);
  }
}

void guest_settle(void) {
  settle_instructions();
  settle_processor();
  settle_disk();
  raw_syscall(SYS_prctl, PR_SET_TIMERSLACK, TIMER_SLACK_NANOS, 0L, 0L, 0L); /* last: real-time threads cannot set it */
}

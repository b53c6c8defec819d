/*
 * System calls that require a single-threaded process, that affect all threads, or that take rights from the calling thread.
 * The application does not expect the agent's threads: a thread that confines itself would leave unconfined threads in its
 * address space. So the agent's threads are removed first. From then on the application is as it would be without us, except
 * for its probes, which are off.
 *
 * It fails closed: if they cannot be removed, the call is not made, and fails with ENOMEM.
 *
 * libc's setuid and similar functions do not need this: they change the ids of all threads, the agent's included.
 *
 * A process that has relatives also leaves its family (agent/border.c).
 */
#include "agent/single_thread.h"

#include "agent/border.h"
#include "agent/start.h"
#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/threads.h"
#include "record/thread.h"
#include "session/log.h"
#include "session/memory.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

enum {
  NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME,
};

/* Whether it is. */
static bool be_alone(const char *what) { return !agent_threads_are_there() || agent_leaves(what); }

/* The same for a call that gives up rights: the process also leaves its family. */
static bool give_up(const char *what) {
  bool is_near = border_is_near();
  return be_alone(what) && (!is_near || border_cross());
}

static bool has_capabilities(uint64_t *effective) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  bool known = raw_syscall(SYS_capget, &header, data) == 0;
  *effective = (uint64_t)data[1].effective << 32 | data[0].effective;
  return known && (data[0].permitted || data[1].permitted);
}

/* Without the capability the kernel refuses the call, and the agent need not leave. */
static bool is_capable(int capability) {
  uint64_t effective;
  return has_capabilities(&effective) && (effective >> capability & 1);
}

static bool before_unshare(long flags) {
  bool alone = (flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) && threads_are_single();
  return alone || ((flags & NAMESPACES) && is_capable(CAP_SYS_ADMIN)) ? give_up("unshare") : true;
}

static bool before_setns(long file, long type) {
  if (type == 0) {
    type = ioctl((int)file, NS_GET_NSTYPE);
  }
  bool alone = type > 0 && (type & (CLONE_NEWUSER | CLONE_NEWTIME)) && threads_are_single();
  return alone || is_capable(CAP_SYS_ADMIN) ? give_up("setns") : true;
}

/* Programs omit these arguments to check whether the kernel supports the call. */
static bool before_seccomp(unsigned long operation, unsigned long flags, unsigned long argument) {
  bool strictly = operation == SECCOMP_SET_MODE_STRICT && flags == 0 && argument == 0;
  bool by_filter = operation == SECCOMP_SET_MODE_FILTER && argument != 0;
  if (!strictly && !by_filter) {
    return true;
  }
  bool is_near = border_is_near();
  if (!give_up("seccomp")) {
    return false;
  }
  if (is_near && process_pid) { /* it has no agent threads; its probes stay on and make no system calls */
    record_prepare();
    process_pid = 0;
    process_is_confined = true;
  }
  return true;
}

/*
 * Credentials belong to threads. libc's setuid and similar functions change those of all threads, and abort the process if
 * only some changes succeed. The agent's threads would also keep rights that the application gives up.
 */
static bool before_capset(void) {
  uint64_t effective;
  return has_capabilities(&effective) ? give_up("capset") : true;
}

/* A multi-threaded server may act for several users at once: then the call concerns one thread, unless that thread keeps
 * no id to come back with. */
static bool before_own_ids(long number, long first, long second, long third) {
  bool for_good = number == SYS_setuid || (number == SYS_setreuid && first != -1) ||
                  (number == SYS_setresuid && first != -1 && second != -1 && third != -1);
  uint64_t effective;
  return (threads_are_single() || for_good) && has_capabilities(&effective) ? give_up("ids of one thread") : true;
}

static bool before_root(int capability, const char *what) { return is_capable(capability) ? give_up(what) : true; }

static bool before_prctl(long option, unsigned long first, unsigned long second) {
  switch (option) {
    case PR_SET_SECCOMP:
      return first == SECCOMP_MODE_STRICT ? before_seccomp(SECCOMP_SET_MODE_STRICT, 0, 0)
                                          : before_seccomp(SECCOMP_SET_MODE_FILTER, 0, second);
    case PR_SET_NO_NEW_PRIVS:
      return raw_syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) == 0 ? give_up("no new privileges") : true;
    case PR_SET_MDWE: return be_alone("memory that is never written and executed");
    case PR_SET_SECUREBITS:
    case PR_CAPBSET_DROP:
    case PR_CAP_AMBIENT: return before_capset();
    default: return true;
  }
}

static bool before_system_call(long number, long first, long second, long third) {
  switch (number) {
    case SYS_unshare: return before_unshare(first);
    case SYS_setns: return before_setns(first, second);
    case SYS_seccomp: return before_seccomp((unsigned long)first, (unsigned long)second, (unsigned long)third);
    case SYS_prctl: return before_prctl(first, (unsigned long)second, (unsigned long)third);
    case SYS_landlock_restrict_self: return give_up("landlock");
    case SYS_chroot: return before_root(CAP_SYS_CHROOT, "chroot");
    case SYS_pivot_root: return before_root(CAP_SYS_ADMIN, "pivot_root");
    case SYS_capset: return before_capset();
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups: return before_own_ids(number, first, second, third);
    default: return true;
  }
}

/* Also in a confined process, which may have probes: then nothing here makes a system call. */
static void before_clock_goes(long number, long option, long value) {
  if (number == SYS_prctl && option == PR_SET_TSC && value == PR_TSC_SIGSEGV) {
    if (session && !process_is_confined) {
      log_line("a thread forbids itself the time-stamp counter (PR_SET_TSC): its calls are not recorded from now on", NULL);
    }
    record_without_clock();
  }
}

static bool may_make(long number, long first, long second, long third) {
  before_clock_goes(number, first, second);
  /* If the agent has left or never started, no system call is made that the application may not make. */
  if (process_is_confined || before_system_call(number, first, second, third)) {
    return true;
  }
  errno = ENOMEM;
  return false;
}

/* Whether the remaining files, system calls and memory rule out a JVM. Giving up rights alone does not. */
static bool is_for_good(long number, long option) {
  switch (number) {
    case SYS_prctl: return option == PR_SET_SECCOMP || option == PR_SET_MDWE;
    case SYS_seccomp:
    case SYS_landlock_restrict_self:
    case SYS_chroot:
    case SYS_pivot_root:
    case SYS_unshare:
    case SYS_setns: return true;
    default: return false;
  }
}

long single_thread_make(long number, long a, long b, long c, long d, long e) {
  agent_may_have_to_leave();
  long result = may_make(number, a, b, c) ? raw_syscall(number, a, b, c, d, e) : -1;
  int error = errno;
  agent_may_return(is_for_good(number, a), !threads_are_single());
  errno = error;
  return result;
}

#define SYSTEM_CALL(number, a, b, c, d, e) \
  (int)single_thread_make(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

EXPORT int unshare(int flags) { return SYSTEM_CALL(SYS_unshare, flags, 0, 0, 0, 0); }

EXPORT int setns(int file, int type) { return SYSTEM_CALL(SYS_setns, file, type, 0, 0, 0); }

EXPORT int chroot(const char *path) { return SYSTEM_CALL(SYS_chroot, path, 0, 0, 0, 0); }

/* libc exports this function but does not declare it. */
int pivot_root(const char *new_root, const char *old_root);
int capset(cap_user_header_t header, const cap_user_data_t data);

EXPORT int pivot_root(const char *new_root, const char *old_root) {
  return SYSTEM_CALL(SYS_pivot_root, new_root, old_root, 0, 0, 0);
}

EXPORT int capset(cap_user_header_t header, const cap_user_data_t data) {
  return SYSTEM_CALL(SYS_capset, header, data, 0, 0, 0);
}

EXPORT int prctl(int option, ...) {
  va_list arguments;
  va_start(arguments, option);
  unsigned long a = va_arg(arguments, unsigned long), b = va_arg(arguments, unsigned long),
                c = va_arg(arguments, unsigned long), d = va_arg(arguments, unsigned long);
  va_end(arguments);
  return SYSTEM_CALL(SYS_prctl, option, a, b, c, d);
}

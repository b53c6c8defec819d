/*
 * What the kernel lets a process with one thread do alone, or does to all threads of a process. An application that has one
 * thread, or knows what its own may do, has not reckoned with the agent's. So these are removed first: from then on
 * the application is as it would be without us, but for its probes, which are off.
 */
#include "agent/single_thread.h"

#include "agent/control.h"
#include "agent/start.h"
#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/sys.h"
#include "process/threads.h"

#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void be_alone(const char *what) {
  if (agent_threads_are_there()) {
    agent_leaves(what);
  }
}

static void before_unshare(long flags) {
  if ((flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) && threads_are_single()) {
    be_alone("unshare");
  }
}

static void before_setns(long file, long type) {
  if (type == 0) {
    type = ioctl((int)file, NS_GET_NSTYPE);
  }
  if (type > 0 && (type & (CLONE_NEWUSER | CLONE_NEWTIME)) && threads_are_single()) {
    be_alone("setns");
  }
}

/* A filter for one thread is that thread's own business; it may be the one that ends the process. */
static void before_seccomp(unsigned long operation, unsigned long flags) {
  if (operation == SECCOMP_SET_MODE_STRICT ||
      (operation == SECCOMP_SET_MODE_FILTER && (flags & SECCOMP_FILTER_FLAG_TSYNC))) {
    be_alone("seccomp");
  } else if (operation == SECCOMP_SET_MODE_FILTER) {
    control_leave_socket();
  }
}

static bool has_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  return raw_syscall(SYS_capget, &header, data) == 0 && (data[0].permitted || data[1].permitted);
}

/*
 * Rights are each thread's own. libc's setuid and its like change those of all threads, and end the process when the kernel
 * lets some do so and others not. Besides, the agent's threads would keep what the application gives up.
 */
static void before_capset(void) {
  if (has_capabilities()) {
    be_alone("capset");
  }
}

/* With several threads, a server may act for several users at a time: then it is for one of them. */
static void before_own_ids(void) {
  if (threads_are_single() && has_capabilities()) {
    be_alone("ids of one thread");
  }
}

static void before_prctl(long option, unsigned long mode) {
  if (option == PR_SET_SECCOMP) {
    before_seccomp(mode == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT : SECCOMP_SET_MODE_FILTER, 0);
  } else if (option == PR_SET_SECUREBITS) {
    before_capset();
  }
}

void single_thread_before_system_call(long number, long first, long second) {
  switch (number) {
    case SYS_unshare: before_unshare(first); break;
    case SYS_setns: before_setns(first, second); break;
    case SYS_seccomp: before_seccomp((unsigned long)first, (unsigned long)second); break;
    case SYS_prctl: before_prctl(first, (unsigned long)second); break;
    case SYS_capset: before_capset(); break;
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups: before_own_ids(); break;
    default: break;
  }
}

EXPORT int unshare(int flags) {
  before_unshare(flags);
  return (int)raw_syscall(SYS_unshare, flags);
}

EXPORT int setns(int file, int type) {
  before_setns(file, type);
  return (int)raw_syscall(SYS_setns, file, type);
}

int capset(cap_user_header_t header, const cap_user_data_t data); /* which libc has and declares nowhere */

EXPORT int capset(cap_user_header_t header, const cap_user_data_t data) {
  before_capset();
  return (int)raw_syscall(SYS_capset, header, data);
}

EXPORT int prctl(int option, ...) {
  va_list arguments;
  va_start(arguments, option);
  unsigned long a = va_arg(arguments, unsigned long), b = va_arg(arguments, unsigned long),
                c = va_arg(arguments, unsigned long), d = va_arg(arguments, unsigned long);
  va_end(arguments);
  before_prctl(option, a);
  return (int)raw_syscall(SYS_prctl, option, a, b, c, d);
}

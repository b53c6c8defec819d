/* The end of the process, which agent threads do not bring about. */
#include "agent/exit.h"

#include "agent/control.h"
#include "agent/descriptors.h"
#include "code/death.h"
#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/glibc.h"
#include "os/next.h"
#include "os/self.h"
#include "process/threads.h"
#include "record/apart_calls.h"
#include "record/thread.h"
#include "session/family.h"
#include "session/session.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* An agent thread wants to end the process. Once the application itself is ending, that is no news. */
static _Noreturn void agent_gives_up(const char *what) {
  if (!atomic_load(&process_exiting)) {
    agent_died(what, NULL);
  }
  agent_threads_park();
}

static void record_end(int status) {
  if (!process_pid || getpid() != process_pid) {
    return; /* a vfork child, or one that may be allowed no system call but the last */
  }
  struct mdl_header *header = session;
  if (!header) {
    return;
  }
  if (family_has_agent()) {
    apart_calls_end();
    agent_process_dies();
    session_ended(status);
    control_end();
  } else {
    record_detach();
  }
  family_leave(status);
}

/* By on_exit: after all destructors, with the status that exit was given or main returned. */
static void at_exit(int status, void *unused) {
  (void)unused;
  record_end(status);
}

/* Libraries' destructors may take away what the JVM uses: from here on its faults are expected. */
__attribute__((destructor)) static void exit_begins(void) { atomic_store(&process_exiting, true); }

EXPORT _Noreturn void exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called exit");
  }
  if (process_pid && getpid() == process_pid) {
    atomic_store(&process_exiting, true);
  }
  next()->exit(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void quick_exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called quick_exit");
  }
  record_end(status);
  next()->quick_exit(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void _exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called _exit");
  }
  record_end(status);
  next()->_exit(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void _Exit(int status) { _exit(status); }

EXPORT _Noreturn void abort(void) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called abort");
  }
  next()->abort();
  __builtin_unreachable();
}

void exit_with_application(void) {
  /* To look takes a descriptor, for a moment: among the program's, that might be the number which it expects next. */
  int status = agent_has_own_descriptors ? threads_status_of_ended() : -1;
  if (status >= 0) {
    record_end(status);
    next()->_exit(status);
  }
}

void exit_start(void) { on_exit(at_exit, NULL); }

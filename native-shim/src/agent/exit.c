/* The end of the process. Agent threads never cause it. */
#include "agent/exit.h"

#include "agent/control.h"
#include "agent/descriptors.h"
#include "code/death.h"
#include "code/libraries.h"
#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/glibc.h"
#include "os/next.h"
#include "os/self.h"
#include "process/threads.h"
#include "record/apart_calls.h"
#include "record/thread.h"
#include "session/family.h"
#include "session/log.h"
#include "session/session.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* An agent thread tries to end the process. Not logged if the application is ending already. */
static _Noreturn void agent_gives_up(const char *what) {
  if (!atomic_load(&process_exiting)) {
    agent_died(what, NULL);
  }
  agent_threads_park();
}

/*
 * Lets the agent read the last events (agent/pc_samples.c). While destructors run, it may fail; so it looks before them, when
 * exit's handlers run. Later events are not counted.
 */
static void look_again(void) {
  static const uint64_t NANOS_MAX = 2000000000u;
  static atomic_flag looked = ATOMIC_FLAG_INIT;
  if (!is_agent_thread && session && session->flags & MDL_KERNEL_EVENTS && family_has_agent() && !atomic_flag_test_and_set(&looked) &&
      !libraries_await_look(NANOS_MAX)) {
    log_line("the last events are not counted", NULL);
  }
}

static void look_at_exit(int status, void *unused) {
  (void)status;
  (void)unused;
  if (process_pid && getpid() == process_pid) {
    look_again();
  }
}

void exit_looks_first(void) { on_exit(look_at_exit, NULL); }

static void record_end(int status) {
  if (!process_pid || getpid() != process_pid) {
    return; /* a vfork child, or a process that may be allowed no other system call than exit */
  }
  struct mdl_header *header = session;
  if (!header) {
    return;
  }
  if (family_has_agent()) {
    look_again();
    apart_calls_end();
    agent_process_dies();
    session_ended(status);
    control_end();
  } else {
    record_detach();
  }
  family_leave(status);
}

/* Registered by on_exit: runs after all destructors, with the exit status. */
static void at_exit(int status, void *unused) {
  (void)unused;
  record_end(status);
}

/* Libraries' destructors may free what the JVM uses: from here on its faults are expected. */
__attribute__((destructor)) static void exit_begins(void) { atomic_store(&process_exiting, true); }

EXPORT _Noreturn void exit(int status) {
  if (is_agent_thread) {
    agent_gives_up("the JVM called exit");
  }
  process_exits();
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
  /* The check opens a descriptor. In a shared table, it could take the number that the program expects next. */
  int status = agent_has_own_descriptors ? threads_status_of_ended() : -1;
  if (status >= 0) {
    record_end(status);
    next()->_exit(status);
  }
}

void exit_start(void) { on_exit(at_exit, NULL); }

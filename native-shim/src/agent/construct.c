#include "agent/construct.h"

#include "agent/exit.h"
#include "agent/fork.h"
#include "agent/stand_in.h"
#include "agent/start.h"
#include "code/death.h"
#include "code/probes.h"
#include "os/library.h"
#include "os/parent.h"
#include "os/program.h"
#include "os/self.h"
#include "os/sys.h"
#include "os/wrapper.h"
#include "process/masks.h"
#include "process/threads.h"
#include "record/thread.h"
#include "session/log.h"
#include "session/options.h"
#include "session/waiters.h"

#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

/* Interval at which a waiting main checks whether the agent is stuck. */
static const uint64_t LOOK_NANOS = 1000000000u;
enum { IDLE_LOOKS_MAX = 30 };
static const uint64_t CPU_NANOS_MAX = 60000000000u;
static const uint64_t IDLE_NANOS = 1000000u;

void process_start(void) {
  process_pid = getpid();
  masks_start();
  threads_start();
  fork_start();
  exit_start();
}

/* A JVM costs many times more than a short-lived command. The program that the user has started gets one in any case,
 * because it may open libraries with probes later. */
static bool wants_agent(void) {
  return options.children == CHILDREN_ALL || !(parent_has_library() || wrapper_has_agent(getppid())) ||
         (options.children == CHILDREN_PROBED && probes_are_loaded()); /* last: it reads files */
}

/* So does a program executed by a wrapper, but its main does not wait: it is often a command of a script. */
static bool may_stand_in(void) {
  if (options.children != CHILDREN_PROBED || !stand_in_begin()) {
    return false;
  }
  options.wait = false;
  if (options.start_delay_millis < STAND_IN_MILLIS) {
    options.start_delay_millis = STAND_IN_MILLIS;
  }
  return true;
}

/*
 * While main waits, the process's CPU time is the agent's. Elapsed time proves nothing on a busy machine: the agent is stuck
 * if it uses no CPU time at all, or uses it without end. A stopped process does not check either.
 */
static bool agent_is_stuck(void) {
  static uint64_t last;
  static int idle;
  uint64_t now = clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
  idle = now - last < IDLE_NANOS ? idle + 1 : 0;
  last = now;
  return idle == IDLE_LOOKS_MAX || now > CPU_NANOS_MAX;
}

void agent_construct(char *const *environment) {
  if (getauxval(AT_SECURE)) {
    return; /* the environment comes from a less privileged user */
  }
  options_read(environment);
  if (wants_agent()) {
    stand_in_has_wrapper();
  } else if (!may_stand_in()) {
    return;
  }
  process_start();
  if (library_is_relative()) {
    library_find_directory();
  }
  record_from_birth = program_is_go();
  agent_start();
  if (!options.wait && !record_from_birth) {
    return;
  }
  if (!waiters_hold_main(LOOK_NANOS, agent_is_stuck)) {
    log_line("the agent is stuck, and its probes are not in place: the program starts without them", NULL);
    if (record_from_birth) {
      agent_died("a program in Go gets no probes once it runs", NULL);
    }
  } else if (record_from_birth) {
    record_thread(); /* a goroutine's stack is too small for thread registration */
  }
}

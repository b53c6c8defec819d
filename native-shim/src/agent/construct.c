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

/* Main looks so often whether it waits in vain. */
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

/* A JVM costs a short-lived command many times what it costs itself. The program that somebody has started with the library gets
 * one in any case: it may open libraries with probes later. */
static bool wants_agent(void) {
  return options.children == CHILDREN_ALL || !(parent_has_library() || wrapper_has_agent(getppid())) ||
         (options.children == CHILDREN_PROBED && probes_are_loaded()); /* last: it reads files */
}

/* So does what a wrapper has executed, but main does not wait: more than once it is a command of some script. */
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
 * While main waits, processor time of the process is the agent's. How long that takes is up to who else wants a processor, so
 * time that passes says nothing: the agent is stuck when it does not run at all, or runs for ever. A process that is stopped
 * does not look either.
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
    return; /* its environment is that of somebody with less rights */
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
    record_thread(); /* a goroutine's stack has no room for what makes a thread known */
  }
}

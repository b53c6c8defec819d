#include "agent/construct.h"

#include "agent/exit.h"
#include "agent/fork.h"
#include "agent/start.h"
#include "code/probes.h"
#include "os/library.h"
#include "os/parent.h"
#include "os/self.h"
#include "process/masks.h"
#include "process/threads.h"
#include "session/log.h"
#include "session/options.h"
#include "session/waiters.h"

#include <sys/auxv.h>
#include <unistd.h>

static const uint64_t WAIT_NANOS_MAX = 30000000000u;

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
  return options.children == CHILDREN_ALL || !parent_has_library() ||
         (options.children == CHILDREN_PROBED && probes_are_loaded()); /* last: it reads files */
}

void agent_construct(char *const *environment) {
  if (getauxval(AT_SECURE)) {
    return; /* its environment is that of somebody with less rights */
  }
  options_read(environment);
  if (!wants_agent()) {
    return;
  }
  process_start();
  if (library_is_relative()) {
    library_find_directory();
  }
  agent_start();
  if (options.wait && !waiters_hold_main(WAIT_NANOS_MAX)) {
    log_line("the probes are not in place after 30 s: the program starts without them", NULL);
  }
}

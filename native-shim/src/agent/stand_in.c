/*
 * A wrapper and its program decide independently, by observing each other. A wrapper that does more than wait also gets an
 * agent, which starts late or had started before.
 *
 *   the wrapper                                   its program
 *   1 shows that it has an agent, and delays it   1 is the only child of a process that shows an agent: shows its
 *   2 its only child shows an agent, and main         own, and delays it
 *       waits: so does the agent's thread         2 is still the only child, and the parent's main waits, or the
 *   3 not any more: the agent begins                  parent has ended: the agent begins. Else it goes, for good
 *
 * With --wait the wrapper's main begins only after its agent, so both get one.
 */
#include "agent/stand_in.h"

#include "agent/exit.h"
#include "agent/watch.h"
#include "os/progress.h"
#include "os/self.h"
#include "os/sys.h"
#include "os/wrapper.h"
#include "process/threads.h"
#include "session/session.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const unsigned STAND_IN_MILLIS = 50; /* the default delay: a command that ends earlier costs no JVM */

static pid_t parent; /* the wrapper that this process may stand in for, else 0 */

bool stand_in_has_wrapper(void) {
  pid_t candidate = getppid();
  bool found = candidate > 0 && wrapper_only_child(candidate) == getpid() && wrapper_has_agent(candidate);
  session_wrapper = found ? wrapper_outermost() : 0;
  return found;
}

bool stand_in_begin(void) {
  parent = stand_in_has_wrapper() ? getppid() : 0;
  return parent != 0;
}

/* PROGRESS_NANOS: within that time a child executes its program, and its parent waits for it. */
static const uint64_t LOOK_NANOS = 20000000u, PROGRESS_NANOS = 450000000u, ELAPSED_NANOS_MAX = 60000000000u,
                      SLEEP_NANOS_MIN = 1000000u;

static void sleep_nanos(uint64_t nanos) {
  nanosleep(&(struct timespec){(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)}, NULL);
}

static bool has_more_time(const struct progress *progress, uint64_t nanos, uint64_t began_nanos) {
  return progress->nanos < nanos && progress->looked_nanos - began_nanos < ELAPSED_NANOS_MAX && !atomic_load(&process_exiting);
}

void stand_in_delay(uint64_t nanos) {
  struct progress own = progress_of(process_pid);
  for (uint64_t began = own.looked_nanos; has_more_time(&own, nanos, began);) {
    uint64_t rest = nanos - own.nanos;
    sleep_nanos(rest > SLEEP_NANOS_MIN ? rest : SLEEP_NANOS_MIN);
    progress_look(&own);
    exit_with_application();
  }
}

/* Until this process and its relative both had the time to bring it about. */
static bool soon(bool (*is_so)(pid_t relative), pid_t (*relative)(void)) {
  bool found = false;
  pid_t of = relative();
  struct progress own = progress_of(process_pid), its = progress_of(of);
  uint64_t began = own.looked_nanos;
  while (of && !(found = is_so(of)) &&
         (has_more_time(&own, PROGRESS_NANOS, began) || has_more_time(&its, PROGRESS_NANOS, began))) {
    sleep_nanos(LOOK_NANOS);
    progress_look(&own);
    progress_look(&its);
    of = relative();
  }
  return found;
}

static pid_t parent_of_only_child(void) { return wrapper_only_child(parent) == process_pid ? parent : 0; }

static bool parent_has_ended(void) { return getppid() != parent; }

static bool waits_or_has_ended(pid_t wrapper) { return parent_has_ended() || wrapper_waits(wrapper); }

bool stand_in_confirmed(void) { return !parent || soon(waits_or_has_ended, parent_of_only_child) || parent_has_ended(); }

static pid_t only_child(void) { return threads_are_single() ? wrapper_only_child(process_pid) : 0; }

static bool stands_in(pid_t child) { return wrapper_has_agent(child) && wrapper_waits(process_pid); }

/* Woken by the child's end; polls for other children. */
static void sleep_beside(pid_t child) {
  struct pollfd end = {.fd = (int)raw_syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
  poll(&end, 1, (int)(watch_nanos / 1000000u));
  if (end.fd >= 0) {
    close(end.fd);
  }
}

bool stand_in_awaited(void) {
  bool awaited = false;
  while (soon(stands_in, only_child)) {
    awaited = true;
    pid_t child = only_child();
    if (child) {
      sleep_beside(child);
    }
    exit_with_application();
  }
  return awaited;
}

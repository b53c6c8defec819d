/*
 * If the JVM is stuck or gone, the agent dies. If the application has ended by a direct system call, which libc does not
 * notice, the process ends, because the agent's threads would keep it alive for ever; also after the agent's death.
 */
#include "agent/watch.h"

#include "agent/exit.h"
#include "code/death.h"
#include "os/self.h"
#include "process/memory_locks.h"
#include "process/threads.h"
#include "session/family.h"
#include "session/life.h"
#include "session/log.h"
#include "session/memory.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

/* The agent renews the session's clocks many times a second. */
enum { MISSED_BEATS_MAX = 5 };
uint64_t watch_nanos = 1000000000u;

static bool is_armed(void) { return __atomic_load_n(&session->state, __ATOMIC_RELAXED) == MDL_ARMED; }

/*
 * Counts its own wake-ups instead of time: a stopped process or a suspended machine has neither heartbeats nor wake-ups. It
 * starts when the probes are in place and does not wait for a first heartbeat, because an agent that is stuck from the start
 * sends none.
 */
static bool is_stuck(void) {
  static uint64_t last;
  static int missed;
  uint64_t now = __atomic_load_n(&session->now_tsc, __ATOMIC_RELAXED);
  missed = now == last ? missed + 1 : 0;
  last = now;
  return missed == MISSED_BEATS_MAX;
}

_Noreturn static void *watch(void *unused) {
  (void)unused;
  for (;;) {
    nanosleep(&(struct timespec){(time_t)(watch_nanos / 1000000000u), (long)(watch_nanos % 1000000000u)}, NULL);
    exit_with_application();
    memory_unlock_own();
    if (!atomic_load(&process_exiting) && is_armed() && !agent_is_dead()) {
      family_sweep();
      if (is_stuck()) {
        agent_died("the JVM is stuck or gone: no sign of life for 5 s", NULL);
      }
    }
  }
}

void watch_start(void) {
  if (threads_start_agent(watch) != 0) {
    log_line("nobody watches the JVM: there is no thread for it", NULL);
  }
}

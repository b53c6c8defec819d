/*
 * If the JVM is stuck or gone, the agent dies. If the application has ended by a direct system call, which libc does not
 * notice, the process ends, because the agent's threads would keep it alive for ever; also after the agent's death.
 */
#include "agent/watch.h"

#include "agent/exit.h"
#include "code/death.h"
#include "os/agent_threads.h"
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
 * Counts its own wake-ups, not time: a process that is stopped and a machine that sleeps have neither beats nor wake-ups.
 * A look is not counted when the agent's threads waited for a processor for half of the time: on an overloaded machine this
 * thread, which hardly runs, gets one sooner than they do. Counting begins when the probes are in place and does not wait for
 * a first beat: an agent that is stuck from the start has none.
 */
bool watch_is_stuck(uint64_t beat, uint64_t (*waited)(void)) {
  static uint64_t last, waited_before;
  static int missed;
  if (beat != last) {
    last = beat;
    missed = 0;
    return false;
  }
  uint64_t now = waited();
  if (missed == 0 || now - waited_before < watch_nanos / 2) {
    missed++;
  }
  waited_before = now;
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
      if (watch_is_stuck(__atomic_load_n(&session->now_tsc, __ATOMIC_RELAXED), agent_threads_waited_nanos)) {
        agent_died("the JVM is stuck or gone: no sign of life for 5 s", NULL);
      }
    }
  }
}

void watch_start(void) {
  if (threads_start_agent(watch) != 0) {
    log_line("watchdog disabled: cannot create its thread", NULL);
  }
}

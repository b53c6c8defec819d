#include "agent/ready.h"

#include "agent/control.h"
#include "agent/descriptors.h"
#include "code/death.h"
#include "code/libraries.h"
#include "os/self.h"
#include "process/threads.h"
#include "session/family.h"
#include "session/life.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/waiters.h"

#include <stdatomic.h>
#include <time.h>
#include <x86intrin.h>

/* The agent renews the session's clocks many times a second. */
enum { MISSED_BEATS_MAX = 5 };
uint64_t agent_watch_nanos = 1000000000u;

/*
 * Counts its own wake-ups and not the time: a process that is stopped, or a machine that sleeps, has no beats and no
 * wake-ups either. It begins when the probes are in place, and does not wait for a first beat: an agent that is stuck
 * from the start has none.
 */
static void *watch(void *unused) {
  (void)unused;
  uint64_t last = __atomic_load_n(&session->now_tsc, __ATOMIC_RELAXED);
  for (int missed = 0; missed < MISSED_BEATS_MAX;) {
    struct timespec pause = {(time_t)(agent_watch_nanos / 1000000000u), (long)(agent_watch_nanos % 1000000000u)};
    nanosleep(&pause, NULL);
    if (agent_is_dead() || atomic_load(&process_exiting)) {
      return NULL;
    }
    family_sweep();
    uint64_t now = __atomic_load_n(&session->now_tsc, __ATOMIC_RELAXED);
    if (now != last) {
      last = now;
      missed = 0;
    } else {
      missed++;
    }
  }
  agent_died("the JVM is stuck or gone: no sign of life for 5 s", NULL);
  return NULL;
}

static void start_watch(void) {
  static _Atomic bool started;
  if (!atomic_exchange(&started, true) && threads_start_agent(watch) != 0) {
    log_line("nobody watches the JVM: there is no thread for it", NULL);
  }
}

void agent_ready(void) {
  uint32_t starting = MDL_STARTING;
  uint64_t never = 0;
  __atomic_compare_exchange_n(&session->armed_tsc, &never, __rdtsc(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  __atomic_compare_exchange_n(&session->state, &starting, MDL_ARMED, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  start_watch();
  libraries_begin();
  if (agent_has_own_descriptors) {
    control_start();
  }
  waiters_let_main_go();
  waiters_look_again();
}

#include "agent/removal.h"

#include "os/agent_threads.h"
#include "os/gate.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/dispositions.h"

#include <signal.h>
#include <time.h>

/* Takes some milliseconds on an idle machine, even while the JVM starts. */
uint64_t removal_nanos_max = 30000000000u;

bool agent_remove_threads(void) {
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + removal_nanos_max;
  while (!gate_lock_soon()) {
    if (clock_nanos(CLOCK_MONOTONIC) >= deadline) {
      return false;
    }
  }
  agent_threads_remove(true);
  signals_interrupt_agent();
  bool some;
  while ((some = agent_threads_signal(SIGILL)) && clock_nanos(CLOCK_MONOTONIC) < deadline) {
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
  }
  agent_threads_remove(false);
  gate_unlock();
  if (!some) {
    signals_give_back();
    process_pid = 0;
    process_is_confined = true;
  }
  return !some;
}

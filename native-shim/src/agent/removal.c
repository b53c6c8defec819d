#include "agent/removal.h"

#include "os/agent_threads.h"
#include "os/gate.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/dispositions.h"

#include <signal.h>
#include <time.h>

enum { AGENT_WAIT_NANOS_MAX = 2000000000 };

bool agent_remove_threads(void) {
  if (!gate_lock_soon()) {
    return false;
  }
  agent_threads_remove(true);
  signals_interrupt_agent();
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + AGENT_WAIT_NANOS_MAX;
  bool some;
  while ((some = agent_threads_signal(SIGILL)) && clock_nanos(CLOCK_MONOTONIC) < deadline) {
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
  }
  agent_threads_remove(false);
  gate_unlock();
  if (!some) {
    signals_give_back();
    process_pid = 0;
  }
  return !some;
}

#include "agent/ready.h"

#include "agent/begin.h"
#include "agent/control.h"
#include "agent/descriptors.h"
#include "agent/exit.h"
#include "agent/relatives.h"
#include "code/libraries.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/waiters.h"

#include <unistd.h>
#include <x86intrin.h>

/* The program may unmount its start directory. A session with a relative path keeps its directory there. */
static void leave_directory(void) {
  if (agent_has_own_directory && session->directory[0] == '/' && chdir("/") != 0) {
    agent_has_own_directory = false;
  }
}

void agent_ready(void) {
  uint32_t starting = MDL_STARTING;
  uint64_t never = 0;
  __atomic_compare_exchange_n(&session->armed_tsc, &never, __rdtsc(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (waiters_claim_main()) {
    __atomic_fetch_or(&session->flags, MDL_FROM_MAIN, __ATOMIC_RELAXED);
  }
  __atomic_compare_exchange_n(&session->state, &starting, MDL_ARMED, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  leave_directory();
  libraries_begin();
  if (session->flags & MDL_KERNEL_EVENTS) {
    exit_looks_first();
  }
  relatives_begin();
  if (agent_has_own_descriptors) {
    control_start();
  }
  waiters_let_main_go();
  waiters_look_again();
}

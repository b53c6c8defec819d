/*
 * The agent dies once and permanently: whatever Java does later, no site is switched on again.
 *
 * Assumes    A1 only code_toggle(), record_arm() and client_attach() switch a site on, and each checks for the agent's
 *               death after its last store
 *            A2 x86-TSO (record/lease.c), `dead` being written by a locked instruction
 * Guarantees G1 from some moment after agent_died() or agent_process_dies() on, every site is off
 * Progress   P1 neither waits for Java
 *
 *   thread that notices the death             thread that switches sites on (A1)
 *   1 dead = true   (locked)                  1 dead: leave
 *   2 store `off` at every site               2 store `on`
 *                                             3 dead: store `off` at every site
 *
 * If step 3 on the right does not see step 1 on the left, step 2 on the right came before it, so step 2 on the left comes
 * after that.
 */
#include "code/death.h"

#include "code/code.h"
#include "os/self.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/life.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/waiters.h"

#include <unistd.h>

void agent_died(const char *why, const char *detail) {
  if (!life_ends()) {
    return;
  }
  code_switch_all_off();
  kin_agent_failed();
  if (session) {
    __atomic_store_n(&session->state, MDL_AGENT_DEAD, __ATOMIC_RELEASE);
  }
  log_line("the agent has ended, the program goes on without it: ", why, detail ? ": " : "", detail ? detail : "",
           NULL);
  waiters_let_main_go();
  waiters_look_again();
}

static void retire(void) {
  if (life_ends()) {
    code_switch_all_off();
  }
}

void agent_process_dies(void) {
  if (session && process_pid && getpid() == process_pid && family_has_agent() &&
      __atomic_load_n(&session->children, __ATOMIC_RELAXED) != 0) {
    retire();
  }
}

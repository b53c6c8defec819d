/* Forks. A child inherits its parent's probes, or starts a thread that waits for them (agent/relatives.c). */
#include "agent/fork.h"

#include "agent/start.h"
#include "code/code.h"
#include "code/entry_jumps.h"
#include "code/imports.h"
#include "code/libraries.h"
#include "code/shown_text.h"
#include "os/agent_stacks.h"
#include "os/agent_threads.h"
#include "os/arenas.h"
#include "os/gate.h"
#include "os/own_memory.h"
#include "os/self.h"
#include "os/signal_block.h"
#include "os/wrapper.h"
#include "process/dispositions.h"
#include "process/threads.h"
#include "process/trap_bit.h"
#include "record/side_memory.h"
#include "record/thread.h"
#include "session/apart.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/memory.h"

#include <pthread.h>
#include <unistd.h>

static bool gate_held; /* by the forking thread */
static int thread_of_agent; /* the agent's thread in a process that forks early */

static void before_fork(void) {
  if (is_agent_thread) {
    return;
  }
  jumps_before_fork();
  if (session) {
    family_forks();
    apart_forks();
  }
  if (agent_comes() && kin_meet()) {
    atomic_fetch_add(&kin->early, 1);
  }
  gate_held = gate_lock_soon();
  thread_of_agent = agent_threads_one();
  if (thread_of_agent == 0 && process_pid && agent_comes()) {
    thread_of_agent = wrapper_agent_of(process_pid); /* it has not run yet, but already has the agent's name */
  }
}

static void after_fork_in_parent(void) {
  if (!is_agent_thread && gate_held) {
    gate_held = false;
    gate_unlock();
  }
}

static void after_fork_in_child(void) {
  if (process_is_confined) { /* a confined process records nothing and makes no system calls */
    record_forked();
    side_memory_forked();
    gate_forked();
    jumps_forked();
    threads_forked();
    return;
  }
  sigset_t before;
  signals_block_all_but_traps(&before); /* a handler with probes would use the parent's block and record */
  pid_t parent = process_pid;
  process_pid = parent ? getpid() : 0;
  gate_forked();
  jumps_forked();
  gate_held = false;
  is_agent_thread = false;
  record_forked();
  side_memory_forked();
  threads_forked();
  agent_threads_forked();
  agent_stacks_forked();
  arenas_forked();
  own_memory_forked();
  apart_forked();
  signals_forked();
  traps_forked();
  libraries_forked();
  if (parent && session) {
    family_forked(parent);
    if (family_agent_is_gone()) {
      code_switch_all_off();
    }
  }
  if (parent && session && session->blocks) {
    record_prepare(); /* the child is in the middle of code that counts blocks, in the parent's row */
  }
  if (parent && agent_comes()) {
    imports_take_back();
    if (!shown_text_take_back()) {
      atomic_store(&kin_has_probes, true); /* it has the probes, like a later fork, and keeps them */
    }
  }
  if (parent) {
    agent_forked(parent, thread_of_agent);
  }
  signals_restore(&before);
}

/* glibc's pthread_atfork() is a static function in each library that calls this one (os/glibc.h). */
int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *library) __attribute__((weak));
extern void *__dso_handle;

void fork_start(void) {
  __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, __dso_handle);
}

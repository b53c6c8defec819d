#include "agent/begin.h"

#include "code/code.h"
#include "os/gate.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/older_threads.h"
#include "record/thread.h"
#include "session/family.h"

#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

bool agent_has_own_directory;

/* Java does not start in a deleted directory. (agent/start.c may have unshared it already.) */
static void take_own_directory(void) {
  char path[PATH_MAX];
  agent_has_own_directory = raw_syscall(SYS_unshare, CLONE_FS) == 0;
  if (agent_has_own_directory && !getcwd(path, sizeof path) && chdir("/") != 0) {
    agent_has_own_directory = false;
  }
}

static uint32_t flags(void) {
  uint32_t attached = process_was_attached ? MDL_ATTACHED | (older_threads_may_trap() ? 0 : MDL_UNTRAPPED) : 0;
  return attached | (record_from_birth ? MDL_KNOWN_THREADS : 0);
}

/* The aliases of all sites are mapped before the session is published. A child forked meanwhile has all of it or nothing. */
const char *agent_begin_session(const struct instant *start) {
  uint32_t given = flags(); /* slow, so outside the gate, where forks do not wait for it */
  take_own_directory();
  gate_lock();
  const char *trouble = session_create(start);
  if (!trouble) {
    code_start();
    session_publish();
    __atomic_fetch_or(&session->flags, given, __ATOMIC_RELAXED);
    family_begin();
  }
  gate_unlock();
  return trouble;
}

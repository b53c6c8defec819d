#include "agent/begin.h"

#include "code/code.h"
#include "os/gate.h"
#include "record/thread.h"
#include "session/family.h"

#include <stddef.h>

/* The aliases of all sites are there before the session is. A child that is forked meanwhile has all of it or nothing. */
const char *agent_begin_session(const struct instant *start) {
  gate_lock();
  const char *trouble = session_create(start);
  if (!trouble) {
    code_start();
    session_publish();
    __atomic_fetch_or(&session->flags, record_from_birth ? MDL_KNOWN_THREADS : 0, __ATOMIC_RELAXED);
    family_begin();
  }
  gate_unlock();
  return trouble;
}

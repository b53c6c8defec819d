#include "agent/begin.h"

#include "code/code.h"
#include "session/family.h"

#include <stddef.h>

/* The aliases of all sites are there before the session is. */
const char *agent_begin_session(const struct instant *start) {
  const char *trouble = session_create(start);
  if (!trouble) {
    code_start();
    session_publish();
    family_begin();
  }
  return trouble;
}

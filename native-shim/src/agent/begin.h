/* Start of a session. */
#ifndef MDL_BEGIN_H
#define MDL_BEGIN_H

#include "session/session.h"

#include <stdbool.h>

/* The agent's threads do not share the program's current directory. */
extern bool agent_has_own_directory;

/* NULL, or the reason why there is no session. */
const char *agent_begin_session(const struct instant *start);

#endif

/* A session begins. */
#ifndef MDL_BEGIN_H
#define MDL_BEGIN_H

#include "session/session.h"

#include <stdbool.h>

/* The current directory of the agent's threads is theirs alone. */
extern bool agent_has_own_directory;

/* NULL when the session exists, else why it does not. */
const char *agent_begin_session(const struct instant *start);

#endif

/* A session begins. */
#ifndef MDL_BEGIN_H
#define MDL_BEGIN_H

#include "session/session.h"

/* NULL when the session exists, else why it does not. */
const char *agent_begin_session(const struct instant *start);

#endif

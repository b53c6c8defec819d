/* Which process has the agent: a wrapper (os/wrapper.h), or the program that it has executed. */
#ifndef MDL_STAND_IN_H
#define MDL_STAND_IN_H

#include <stdbool.h>

/* In the constructor: whether the parent may be a wrapper and this process its program, as far as can be known by now. The session
 * will say so. */
bool stand_in_has_wrapper(void);
/* The same, for a process that has the agent only in the wrapper's place. */
bool stand_in_begin(void);
/* This long after the constructor it is known. */
extern const unsigned STAND_IN_MILLIS;
/* By the agent's thread: whether this process has the agent, by itself or in its parent's place. */
bool stand_in_confirmed(void);
/* Returns when no child of this process's stands in for it; true if one did. */
bool stand_in_awaited(void);

#endif

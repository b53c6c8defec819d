/* Which process has the agent: a wrapper (os/wrapper.h), or the program that it has executed. */
#ifndef MDL_STAND_IN_H
#define MDL_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* In the constructor: whether the parent may be a wrapper of this program, as far as is known by now. The session notes
 * it. */
bool stand_in_has_wrapper(void);
/* The same for a process that gets the agent only in place of the wrapper. */
bool stand_in_begin(void);
/* Time after the constructor at which it is decided. */
extern const unsigned STAND_IN_MILLIS;
/* On the agent's thread: sleeps, and longer if main waits for a processor meanwhile: a wrapper has then not come to its program. */
void stand_in_delay(uint64_t nanos);
/* On the agent's thread: whether this process gets the agent, for itself or in its parent's place. */
bool stand_in_confirmed(void);
/* Waits until no child stands in for this process; true if one did. */
bool stand_in_awaited(void);

#endif

/* Threads of the application that wait for the agent: main, for the first probes (MDL_OPTIONS=wait), and clients, for more of
 * them (fastinst.h). */
#ifndef MDL_WAITERS_H
#define MDL_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

void waiters_let_main_go(void);
/* False when main goes on without: asked each time that so long has passed, somebody has said that it waits in vain. */
bool waiters_hold_main(uint64_t nanos, bool (*in_vain)(void));
/* True when main waits, and will until it is let go: it does not give up any more. */
bool waiters_claim_main(void);

/* Clients look again: header.site_count has grown, the agent is ready, or it is dead. */
void waiters_look_again(void);
/* Read before what is looked at, to sleep until it has changed since. */
uint32_t waiters_changes(void);
void waiters_await_change(uint32_t seen, uint64_t nanos);

#endif

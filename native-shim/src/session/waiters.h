/* Application threads that wait for the agent: main, for the first probes (MDL_OPTIONS=wait), and clients, for more probes
 * (fastinst.h). */
#ifndef MDL_WAITERS_H
#define MDL_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

void waiters_let_main_go(void);
/* Blocks main until it is let go. Every `nanos` it asks in_vain(); if that is true, returns false and main goes on without
 * probes. */
bool waiters_hold_main(uint64_t nanos, bool (*in_vain)(void));
/* True if main is waiting; from then on it does not give up. */
bool waiters_claim_main(void);

/* Wakes clients: header.site_count has grown, or the agent is ready or dead. */
void waiters_look_again(void);
/* A change counter. Read it before the state, then pass it to waiters_await_change() to sleep without missing a change. */
uint32_t waiters_changes(void);
void waiters_await_change(uint32_t seen, uint64_t nanos);

#endif

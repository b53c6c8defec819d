/* What generated code calls when its fast path does not do, and how calls are counted and recorded. */
#ifndef MDL_RECORD_H
#define MDL_RECORD_H

#include <mdl/layout.h>
#include <stdbool.h>

/* See api.h. */
void record_entry_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_exit_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_slow(struct mdl_function *function, uint64_t ticks, uint64_t self, uint64_t inside);
void record_sample_entry_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_sample_exit_slow(struct mdl_site *site, uint64_t function, uint64_t key, uint64_t call_site);

/* Of whole functions. Counts a call; whether it is to be timed, with this weight. */
bool record_begins(struct mdl_thread *thread, struct mdl_site *site, uint32_t *weight);
/* `call_site`: where the call returns to. `now`: 0 where the clock cannot be read any more. */
void record_returns(struct mdl_thread *thread, const struct mdl_call *call, struct mdl_function *function, uint64_t call_site,
                    uint64_t now);

/* Takes time that a call's recording took off the calls of the thread that still run: it is many times what a short
 * function takes. */
void record_leaves_out(struct mdl_thread *thread, uint64_t ticks);

#endif

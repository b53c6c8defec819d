/* Slow paths of generated code, and the counting and recording of calls. */
#ifndef MDL_RECORD_H
#define MDL_RECORD_H

#include <mdl/layout.h>
#include <stdbool.h>

/* See api.h. */
void record_entry_slow(struct mdl_site *site, uint64_t function, uint64_t key);
/* Of the calling thread, for generated code at hooks: slow_calls_read_cpu(). */
void record_read_cpu(void);
void record_exit_slow(struct mdl_site *site, uint64_t function, uint64_t key, uint64_t call_site);
void record_slow(struct mdl_function *function, uint64_t ticks, uint64_t self, uint64_t inside, uint64_t call_site,
                 uint64_t below);
void record_sample_entry_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_sample_exit_slow(struct mdl_site *site, uint64_t function, uint64_t key, uint64_t call_site);
void record_entry_expired(struct mdl_site *site);

/* For whole functions. Counts a call; true if it must be timed, with `weight`. */
bool record_begins(struct mdl_thread *thread, struct mdl_site *site, uint32_t *weight);
/* `call_site`: the return address. `below`: as in struct mdl_caller. `now`: 0 if the clock cannot be read any more. */
void record_returns(struct mdl_thread *thread, const struct mdl_call *call, struct mdl_function *function, uint64_t call_site,
                    uint64_t below, uint64_t now);

/* When a call ended that generated code has measured in sampled mode (DurationClock.tellEnd); else `now`. */
uint64_t record_ended(const struct mdl_call *call, uint64_t now);

/* Subtracts the time that recording a call took from the thread's running calls: it is many times the duration of a short
 * function. */
void record_leaves_out(struct mdl_thread *thread, uint64_t ticks);

#endif

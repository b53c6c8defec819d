/* Leases: the probes of a function stay on until its deadline, unless the agent renews the lease or ends it before. */
#ifndef MDL_LEASE_H
#define MDL_LEASE_H

#include <mdl/layout.h>
#include <stdbool.h>

/* By the agent. See api.h, arm and disarm. */
int64_t record_arm(const uint32_t *functions, const uint64_t *longest_ticks, int64_t n);
int64_t record_disarm(const uint32_t *functions, int64_t n);

/* record_arm with the same limit for all functions. If calls are not timed, exits stay off. */
void record_open_slice(const uint32_t *functions, int64_t n, uint64_t longest_ticks, bool timed);

/* By a thread that finds an expired lease. */
void record_expire_entry(struct mdl_site *site);
void record_expire_exit(struct mdl_site *site);

static inline bool record_is_sampling(const struct mdl_function *function) {
  return __atomic_load_n(&function->state, __ATOMIC_SEQ_CST) == MDL_SAMPLING;
}

/* An entry counts its frame as open before it reads the state (G2). True if it must open one; closing the frame decrements
 * the count. */
static inline bool record_opens(struct mdl_function *function) {
  __atomic_fetch_add(&function->open, 1, __ATOMIC_SEQ_CST);
  if (!record_is_sampling(function)) {
    __atomic_fetch_sub(&function->open, 1, __ATOMIC_SEQ_CST);
    return false;
  }
  return true;
}

#endif

/*
 * Closing a lease (record_expire_*, by any application thread) against opening the next (record_arm, by the
 * agent alone):
 *
 * Assumes    A1 x86-TSO: a locked instruction is a full fence between the stores before and the loads after it
 *            (Intel SDM vol. 3, 9.2; AMD APM vol. 2, 7.2)
 *            A2 no thread is killed between steps 1 and 4 of a closer while its family lives on: a function would
 *               have no leases any more
 *            A3 no thread is killed with a frame open: exit sites of that function would stay on
 * Guarantees G1 a late closer never switches off a site of a newer lease
 *            G2 while a frame is open, the exit sites of its function stay on
 * Progress   P1 no thread waits: arm skips a function that is being closed until the next look
 *
 *   closer                                   agent (arm)
 *   1 closers++           (locked)           1 state = REARMING           (locked)
 *   2 read state, deadline                   2 closers != 0: state = EXPIRED, leave out
 *   3 over: store `off`;                     3 budget, exit sites on, deadline
 *     state: SAMPLING to EXPIRED  (locked)
 *   4 closers--           (locked)           4 state = SAMPLING           (release)
 *                                            5 entry sites on
 *
 * G1: closer 1-2 and agent 1-2 are Dekker's: either the agent reads closers != 0 and opens no lease, or the closer
 * reads REARMING or later. REARMING it leaves alone; of SAMPLING it also sees the new deadline, and stores `off` only
 * when that has passed too. A closer that ends between the agent's 1 and 2 has stored before the agent does, and must
 * not undo REARMING, which keeps the next closer away: so its step 3 exchanges only SAMPLING.
 * G2: an entry counts its frame as open (locked) and then reads the state; unless that is SAMPLING it takes the frame
 * back. A closer of exits reads EXPIRED and then `open`. By A1 either the entry reads EXPIRED or the closer reads
 * open > 0.
 * If all calls are timed (mean 1), an entry only reads the state, because a locked addition would cost a third of the
 * probe. So calls that are running when such a function is stopped may be counted but not timed.
 */
#include "record/lease.h"

#include "code/code.h"
#include "code/entry_jumps.h"
#include "record/client.h"
#include "record/mode.h"
#include "session/family.h"
#include "session/life.h"
#include "session/memory.h"

#include <x86intrin.h>

static void count_toggles(uint64_t n) { __atomic_fetch_add(&session->toggles, n, __ATOMIC_RELAXED); }

static void switch_off(struct mdl_site *site) {
  code_record(site, false);
  code_fence();
  code_confirm(site);
  count_toggles(1);
}

void record_expire_entry(struct mdl_site *site) {
  if (family_agent_is_gone()) {
    code_switch_all_off(); /* no thread starts or ends leases any more */
    return;
  }
  struct mdl_function *function = (struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  if (code_is_foreign()) {
    __atomic_store_n(&function->deadline, UINT64_MAX, __ATOMIC_RELAXED); /* the agent closes it; until then calls need not come
                                                                            here */
    return;
  }
  __atomic_fetch_add(&function->closers, 1, __ATOMIC_SEQ_CST);
  uint32_t state = __atomic_load_n(&function->state, __ATOMIC_SEQ_CST);
  if ((state == MDL_SAMPLING || state == MDL_EXPIRED) &&
      __rdtsc() > __atomic_load_n(&function->deadline, __ATOMIC_RELAXED)) {
    function->whole = 0;
    switch_off(site);
    uint32_t sampling = MDL_SAMPLING;
    if (__atomic_compare_exchange_n(&function->state, &sampling, MDL_EXPIRED, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      __atomic_fetch_add(&session->expired, 1, __ATOMIC_RELEASE);
    }
  }
  __atomic_fetch_sub(&function->closers, 1, __ATOMIC_SEQ_CST);
}

void record_expire_exit(struct mdl_site *site) {
  struct mdl_function *function = (struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  __atomic_fetch_add(&function->closers, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&function->state, __ATOMIC_SEQ_CST) == MDL_EXPIRED &&
      __atomic_load_n(&function->open, __ATOMIC_SEQ_CST) == 0) {
    switch_off(site);
  }
  __atomic_fetch_sub(&function->closers, 1, __ATOMIC_SEQ_CST);
}

static uint64_t switch_all(const uint32_t *indices, uint32_t n, bool on) {
  struct mdl_site *sites = (struct mdl_site *)session->sites;
  for (uint32_t i = 0; i < n; i++) {
    code_record(&sites[indices[i]], on);
  }
  return n;
}

/* Confirms the switched sites of these functions. */
static void confirm_all(const uint32_t *indices, int64_t n) {
  const struct mdl_site *sites = (const struct mdl_site *)session->sites;
  const struct mdl_function *functions = (const struct mdl_function *)session->functions;
  code_fence();
  for (int64_t i = 0; i < n; i++) {
    const struct mdl_function *function = &functions[indices[i]];
    const uint32_t *list = (const uint32_t *)function->site_list;
    for (uint32_t k = 0; k < function->exit_sites + function->entry_sites; k++) {
      code_confirm(&sites[list[k]]);
    }
  }
}

/* Steps: see the top of this file. Exits are switched on before entries, so that every opened frame can be closed. */
static uint64_t open_lease(struct mdl_function *function, uint64_t longest_ticks, bool timed) {
  const uint32_t *list = (const uint32_t *)function->site_list;
  __atomic_exchange_n(&function->state, MDL_REARMING, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&function->closers, __ATOMIC_SEQ_CST) != 0) {
    __atomic_store_n(&function->state, MDL_EXPIRED, __ATOMIC_SEQ_CST);
    return 0;
  }
  if (function->counting == timed) {
    client_lead_to_counters(function, !timed);
  }
  uint64_t stores = timed ? switch_all(list, function->exit_sites, true) : 0;
  __atomic_store_n(&function->deadline, __rdtsc() + longest_ticks, __ATOMIC_RELAXED);
  __atomic_store_n(&function->state, MDL_SAMPLING, __ATOMIC_RELEASE);
  return stores + switch_all(list + function->exit_sites, function->entry_sites, true);
}

/* A function that the recorder measures keeps its jump between windows. One that coverage has seen needs no jump any more. */
static void hold_jumps(const uint32_t *indices, int64_t n, bool held) {
  const struct mdl_site *sites = (const struct mdl_site *)session->sites;
  const struct mdl_function *functions = (const struct mdl_function *)session->functions;
  struct jumps_batch jumps = {0};
  for (int64_t i = 0; i < n; i++) {
    const struct mdl_function *function = &functions[indices[i]];
    const uint32_t *entries = (const uint32_t *)function->site_list + function->exit_sites;
    for (uint32_t k = 0; k < function->entry_sites; k++) {
      jumps_hold(&jumps, &sites[entries[k]], held && !(function->flags & MDL_OFF));
    }
  }
  jumps_end(&jumps);
}

static void confirm_open(const uint32_t *indices, int64_t n, uint64_t stores) {
  confirm_all(indices, n);
  hold_jumps(indices, n, true);
  count_toggles(stores);
  if (agent_is_dead()) {
    code_switch_all_off(); /* the agent died meanwhile: its loop may have run before these stores */
  }
}

int64_t record_arm(const uint32_t *indices, const uint64_t *longest_ticks, int64_t n) {
  struct mdl_function *functions = (struct mdl_function *)session->functions;
  bool timed = !(session->flags & MDL_COUNTS);
  uint64_t stores = 0;
  for (int64_t i = 0; i < n && !agent_is_dead(); i++) {
    stores += open_lease(&functions[indices[i]], longest_ticks[i], timed);
  }
  confirm_open(indices, n, stores);
  return (int64_t)stores;
}

void record_open_slice(const uint32_t *indices, int64_t n, uint64_t longest_ticks, bool timed) {
  struct mdl_function *functions = (struct mdl_function *)session->functions;
  uint64_t stores = 0;
  for (int64_t i = 0; i < n && !agent_is_dead(); i++) {
    stores += open_lease(&functions[indices[i]], longest_ticks, timed);
  }
  confirm_open(indices, n, stores);
}

/* Closing by the agent: the state first, so that no frame is opened once exits are being switched off. */
int64_t record_disarm(const uint32_t *indices, int64_t n) {
  struct mdl_function *functions = (struct mdl_function *)session->functions;
  uint64_t stores = 0;
  for (int64_t i = 0; i < n; i++) {
    struct mdl_function *function = &functions[indices[i]];
    uint32_t sampling = MDL_SAMPLING;
    if (__atomic_compare_exchange_n(&function->state, &sampling, MDL_EXPIRED, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED)) {
      function->whole = 0;
      const uint32_t *list = (const uint32_t *)function->site_list;
      stores += switch_all(list + function->exit_sites, function->entry_sites, false);
    }
  }
  confirm_all(indices, n);
  hold_jumps(indices, n, !is_coverage());
  count_toggles(stores);
  return (int64_t)stores;
}

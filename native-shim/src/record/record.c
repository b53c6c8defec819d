/*
 * Slow paths of recording. Generated code calls them if a thread has no block yet, a frame is not on top, a row is missing,
 * or a lease has expired; sites without a fast path always call them.
 */
#include "record/record.h"

#include "code/code.h"
#include "record/callers.h"
#include "record/frames.h"
#include "record/functions.h"
#include "record/mode.h"
#include "record/ring.h"
#include "record/rows.h"
#include "record/slow_calls.h"
#include "record/thread.h"
#include "record/tier.h"
#include "record/lease.h"

/* The flags in mdl_call.inside of a single call. */
#define FLAGS (MDL_CALL_MEASURED | MDL_CALL_UNTIMED)

void record_slow(struct mdl_function *function, uint64_t ticks, uint64_t self, uint64_t inside, uint64_t call_site,
                 uint64_t below) {
  struct mdl_thread *thread = record_known_thread();
  if (!thread) {
    return;
  }
  record_in_row(thread, function, inside & ~FLAGS, ticks, self, 1);
  if (is_exact()) {
    record_in_callers(thread, function, call_site, below, ticks);
  }
}

/* Where a call returns to; of an inlined one, its exit hook. */
static uint64_t returns_to(const struct mdl_site *site, const struct mdl_function *function, uint64_t call_site) {
  return site->owner != (uintptr_t)function ? site->address : call_site;
}

/* Counted at entry, because some calls never return. */
static void count(const struct mdl_thread *thread, const struct mdl_function *function) {
  add((uint64_t *)thread->calls + function->index, 1);
}

static bool has_room(struct mdl_thread *thread) {
  if (thread->sp == thread->sp_limit) {
    add(&thread->overflow, 1);
    return false;
  }
  return true;
}

static uint32_t mean_of(const struct mdl_function *function) {
  return is_exact() ? 1 : __atomic_load_n(&function->mean, __ATOMIC_RELAXED);
}

/* For coverage, the call that ends the lease counts, before the probe goes off: a function is reported as called even if the
 * process is killed in between. */
static void end_lease(const struct mdl_thread *thread, struct mdl_site *site, const struct mdl_function *function) {
  if (is_coverage() && thread) {
    count(thread, function);
  }
  record_expire_entry(site);
}

void record_entry_expired(struct mdl_site *site) {
  end_lease(record_known_thread(), site, (const struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE));
}

/* Whether the function's lease has expired, so that the call does not count as others do. In a process that cannot end leases,
 * calls count until the agent closes it. */
static bool is_over(const struct mdl_thread *thread, struct mdl_site *site, const struct mdl_function *function) {
  if (__rdtsc() <= __atomic_load_n(&function->deadline, __ATOMIC_RELAXED)) {
    return false;
  }
  end_lease(thread, site, function);
  return is_coverage() || !code_is_foreign();
}

void record_entry_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  struct mdl_thread *thread = record_thread();
  if (!thread) {
    return;
  }
  struct mdl_function *function = record_identify(site, address);
  if (function) {
    count(thread, function);
    if (has_room(thread)) {
      record_push(thread, function, key, 1);
    }
  }
}

void record_read_cpu(void) {
  struct mdl_thread *thread = record_known_thread();
  if (thread) {
    slow_calls_read_cpu(thread);
  }
}

void record_exit_slow(struct mdl_site *site, uint64_t address, uint64_t key, uint64_t call_site) {
  struct mdl_thread *thread = record_known_thread();
  if (!thread) {
    return; /* before reading the clock, which may fault in this thread */
  }
  uint64_t now = record_now();
  struct mdl_frame *frame = record_frame_to_close(thread, address, key);
  if (!frame) {
    return;
  }
  struct mdl_function *function = function_of(frame);
  record_returns(thread, &frame->call, function, returns_to(site, function, call_site), frame[-1].function, now);
  record_release(thread, frame);
}

void record_sample_entry_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  struct mdl_thread *thread = record_thread();
  struct mdl_function *function = thread ? record_identify(site, address) : NULL;
  if (!function) {
    return;
  }
  if (is_over(thread, site, function)) {
    return;
  }
  uint32_t mean = mean_of(function);
  count(thread, function);
  uint32_t weight = tier_weight(thread, function, mean);
  if (weight != 0 && has_room(thread) && (weight == 1 ? record_is_sampling(function) : record_opens(function))) {
    record_push(thread, function, key, weight);
  }
}

bool record_begins(struct mdl_thread *thread, struct mdl_site *site, uint32_t *weight) {
  struct mdl_function *function = (struct mdl_function *)site->function;
  uint32_t mean = mean_of(function);
  if (!is_exact() && is_over(thread, site, function)) {
    return false;
  }
  count(thread, function);
  *weight = tier_weight(thread, function, mean);
  return *weight != 0;
}

/* The duration of a call whose end time has been read, by generated code if it measured it (DurationClock). */
static uint64_t without_reading(uint64_t elapsed) {
  uint64_t reading = is_cpu_time() ? session->clock_cpu_nanos : session->clock_ticks;
  return elapsed > reading ? elapsed - reading : 0;
}

uint64_t record_ended(const struct mdl_call *call, uint64_t now) {
  return call->inside & MDL_CALL_MEASURED && !is_exact() && !is_cpu_time() ? call->before : now;
}

void record_leaves_out(struct mdl_thread *thread, uint64_t ticks) {
  if (!is_exact() && !is_cpu_time()) {
    add(&thread->taken, ticks);
  }
}

static uint64_t at_most(uint64_t amount, uint64_t most) { return amount < most ? amount : most; }

/* The time taken by nested calls and their recording. Another thread may have started the call. */
static uint64_t taken_within(const struct mdl_thread *thread, const struct mdl_call *call, uint64_t elapsed) {
  uint64_t taken = __atomic_load_n(&thread->taken, __ATOMIC_RELAXED) - call->before;
  return (int64_t)taken < 0 ? 0 : at_most(taken, elapsed);
}

void record_returns(struct mdl_thread *thread, const struct mdl_call *call, struct mdl_function *function, uint64_t call_site,
                    uint64_t below, uint64_t now) {
  bool measured = call->inside & MDL_CALL_MEASURED;
  if (now == 0 || (!measured && (call->start == 0 || call->before < thread->born))) {
    return;
  }
  /* If another thread returns from the call, its CPU clock is a different one. */
  uint64_t elapsed = measured ? call->start : (int64_t)(now - call->start) > 0 ? now - call->start : 0;
  if (!is_cpu_time()) {
    slow_calls_returned(thread, function, now - elapsed, now); /* first: so fewer values live on the stack until then */
  }
  bool complete = is_exact(); /* with sampling, callees would be incomplete */
  uint64_t taken = measured ? at_most(call->before, elapsed) : complete || !is_cpu_time() ? taken_within(thread, call, elapsed) : 0;
  uint64_t ticks = measured ? elapsed : without_reading(complete ? elapsed : elapsed - taken);
  uint64_t start = is_cpu_time() ? call->before : measured ? now - ticks : call->start;
  uint32_t weight = weight_of(call);
  if (weight > 1) {
    tier_draw(thread);
  }
  if (complete && !measured) {
    add(&thread->taken, elapsed - taken);
  }
  record_in_row(thread, function, call->inside & ~FLAGS, ticks, complete ? ticks - at_most(taken, ticks) : 0, weight);
  if (complete) {
    record_in_callers(thread, function, call_site, below, ticks);
  }
  if (__atomic_load_n(&function->remaining, __ATOMIC_RELAXED) > 0 &&
      __atomic_sub_fetch(&function->remaining, 1, __ATOMIC_RELAXED) >= 0) {
    record_in_ring(thread, function, call_site, start, ticks);
  }
}

void record_sample_exit_slow(struct mdl_site *site, uint64_t address, uint64_t key, uint64_t call_site) {
  struct mdl_thread *thread = record_known_thread();
  uint64_t began = thread ? __rdtsc() : 0;
  uint64_t now = thread ? record_now() : 0;
  record_identify(site, address);
  struct mdl_frame *frame = thread ? record_frame_to_close(thread, address, key) : NULL;
  if (frame) {
    began = record_ended(&frame->call, began);
    struct mdl_function *function = function_of(frame);
    record_returns(thread, &frame->call, function, returns_to(site, function, call_site), 0, now);
    uint32_t weight = weight_of(&frame->call);
    record_release(thread, frame);
    if (weight != 1) {
      __atomic_fetch_sub(&function->open, 1, __ATOMIC_SEQ_CST);
    }
    record_leaves_out(thread, __rdtsc() - began);
  }
  const struct mdl_function *function =
      (const struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&function->state, __ATOMIC_SEQ_CST) == MDL_EXPIRED &&
      __atomic_load_n(&function->open, __ATOMIC_SEQ_CST) == 0) {
    record_expire_exit(site);
  }
}

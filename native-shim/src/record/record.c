/*
 * Recording off the fast path: what generated code calls when a thread has no block yet, a frame is not on top, a
 * row is missing, or a window is over. Also the whole of it, for sites without a fast path.
 */
#include "record/record.h"

#include "record/frames.h"
#include "record/functions.h"
#include "record/mode.h"
#include "record/ring.h"
#include "record/rows.h"
#include "record/thread.h"
#include "record/tier.h"
#include "record/windows.h"

/* Calls that still run, the innermost ones: others are long. */
enum { LEFT_OUT_OF = 32 };

void record_slow(struct mdl_function *function, uint64_t ticks, uint64_t self) {
  struct mdl_thread *thread = record_known_thread();
  if (thread) {
    record_in_row(thread, function, NULL, ticks, self, 1);
  }
}

/* Counted when a call begins, and not at its exit: some never return. */
static void count(struct mdl_thread *thread, const struct mdl_function *function) {
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

static bool is_over(const struct mdl_function *function) {
  return __rdtsc() > __atomic_load_n(&function->deadline, __ATOMIC_RELAXED);
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
      record_outermost(thread, (const struct mdl_frame *)thread->sp - 1);
    }
  }
}

void record_exit_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  (void)site;
  struct mdl_thread *thread = record_known_thread();
  if (!thread) {
    return; /* before the clock: the thread may have forbidden itself to read it */
  }
  uint64_t now = record_now();
  struct mdl_frame *frame = record_frame_to_close(thread, address, key);
  if (!frame) {
    return;
  }
  record_returns(thread, frame, now);
  record_release(thread, frame);
}

void record_sample_entry_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  struct mdl_thread *thread = record_thread();
  struct mdl_function *function = thread ? record_identify(site, address) : NULL;
  if (!function) {
    return;
  }
  if (is_over(function)) {
    record_expire_entry(site);
    return;
  }
  uint32_t mean = mean_of(function);
  count(thread, function);
  uint32_t weight = mean == 0 ? 0 : tier_weight(thread, function, mean);
  bool timed = mean == 0 ? record_is_timed(thread, function) : weight != 0;
  if (timed && has_room(thread) && (weight == 1 ? record_is_sampling(function) : record_opens(function))) {
    record_push(thread, function, key, weight);
    record_outermost(thread, (const struct mdl_frame *)thread->sp - 1);
  }
}

bool record_begins(struct mdl_thread *thread, struct mdl_site *site, uint32_t *weight) {
  struct mdl_function *function = (struct mdl_function *)site->function;
  uint32_t mean = mean_of(function);
  if (!is_exact() && is_over(function)) {
    record_expire_entry(site);
    return false;
  }
  count(thread, function);
  *weight = mean == 0 ? 0 : tier_weight(thread, function, mean);
  return *weight != 0 || (mean == 0 && record_is_timed(thread, function) && record_is_sampling(function));
}

/* Of a call that the clock has been read for. Generated code has done so where it measured (DurationClock). */
static uint64_t without_reading(uint64_t elapsed) {
  uint64_t reading = is_cpu_time() ? session->clock_cpu_nanos : session->clock_ticks;
  return elapsed > reading ? elapsed - reading : 0;
}

/* Without what the recording of others took within the call. A handler that ran behind the reading of the clock may have
 * added what is no part of this call. */
static uint64_t without_recording(const struct mdl_frame *frame, uint64_t elapsed) {
  uint64_t recording = is_exact() || is_cpu_time() ? 0 : frame->children;
  return elapsed > recording ? elapsed - recording : 0;
}

void record_leaves_out(struct mdl_thread *thread, uint64_t ticks) {
  if (is_exact() || is_cpu_time()) {
    return; /* there frames have another use for the word */
  }
  struct mdl_frame *frame = (struct mdl_frame *)thread->sp - 1;
  for (int i = 0; i < LEFT_OUT_OF && (uintptr_t)frame > thread->sp_base; i++, frame--) {
    if (is_call(frame) && !(frame->flags & (MDL_FRAME_UNTIMED | MDL_FRAME_MEASURED))) {
      add(&frame->children, ticks);
    }
  }
}

/* `call_site`: where the call returns to. */
static void finish(struct mdl_thread *thread, const struct mdl_frame *frame, uint64_t call_site, uint64_t now) {
  struct mdl_frame *caller = record_is_stacked(thread, frame) && is_call(frame - 1) ? (struct mdl_frame *)frame - 1 : NULL;
  if (frame->flags & MDL_FRAME_UNTIMED) {
    if (caller) {
      add(&caller->children, frame->children);
    }
    return;
  }
  bool measured = frame->flags & MDL_FRAME_MEASURED;
  if (now == 0 || (frame->tsc == 0 && !measured)) {
    return;
  }
  /* A thread's CPU time begins anew where a fork, or another thread, returns from the call. */
  uint64_t elapsed = measured ? frame->tsc : now > frame->tsc ? now - frame->tsc : 0;
  uint64_t ticks = measured ? elapsed : without_reading(without_recording(frame, elapsed));
  struct mdl_function *function = function_of(frame);
  uint64_t start = is_cpu_time() ? frame->children : measured ? now - ticks : frame->tsc;
  uint32_t weight = weight_of(frame);
  if (weight == 0) {
    record_in_ring(thread, function, call_site, start, ticks, 0);
    return;
  }
  if (weight > 1) {
    tier_draw(thread);
  }
  /* Where others are sampled, callees would be incomplete. */
  bool complete = is_exact();
  if (caller && !measured && complete) {
    add(&caller->children, elapsed);
  }
  /* A handler may have run since the clock was read: its time is in `children` and not in `ticks`. */
  uint64_t children = frame->children < ticks ? frame->children : ticks;
  record_in_row(thread, function, frame, ticks, complete ? ticks - children : 0, weight);
  if (__atomic_load_n(&function->remaining, __ATOMIC_RELAXED) > 0 &&
      __atomic_sub_fetch(&function->remaining, 1, __ATOMIC_RELAXED) >= 0) {
    record_in_ring(thread, function, call_site, start, ticks, MDL_RECORD_TOLD);
  }
}

void record_returns(struct mdl_thread *thread, const struct mdl_frame *frame, uint64_t now) {
  finish(thread, frame, frame->ret, now);
}

void record_sample_exit_slow(struct mdl_site *site, uint64_t address, uint64_t key, uint64_t call_site) {
  struct mdl_thread *thread = record_known_thread();
  uint64_t began = thread ? __rdtsc() : 0;
  uint64_t now = thread ? record_now() : 0;
  record_identify(site, address);
  struct mdl_frame *frame = thread ? record_frame_to_close(thread, address, key) : NULL;
  if (frame) {
    struct mdl_function *function = function_of(frame);
    bool inlined = site->owner != (uintptr_t)function;
    finish(thread, frame, inlined ? site->address : call_site, now);
    uint32_t weight = weight_of(frame);
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

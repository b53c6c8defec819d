#include "record/rows.h"

#include "record/interruptible.h"
#include "record/mode.h"
#include "session/apart.h"

#include <stddef.h>

struct mdl_row *record_row(struct mdl_thread *thread, const struct mdl_function *function) {
  if (!thread->rows || function->index >= session->function_capacity) {
    return NULL;
  }
  uint64_t *slot = (uint64_t *)thread->rows + function->index;
  uint64_t at = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!at) {
    struct mdl_row *row = (struct mdl_row *)apart_allocate(sizeof *row);
    if (!row) {
      return NULL;
    }
    row->min = ~0ULL;
    row->function = function->index;
    /* A handler may have created the row meanwhile: it stays. */
    if (__atomic_compare_exchange_n(slot, &at, (uintptr_t)row, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      return row;
    }
  }
  return (struct mdl_row *)at;
}

uint64_t *record_chunk(struct mdl_row *row, uint32_t chunk) {
  return (uint64_t *)apart_allocate_once(&row->chunks[chunk], MDL_CHUNK_SLOTS * sizeof(uint64_t));
}

static uint64_t outermost_ticks(const struct mdl_row *row) {
  return __atomic_load_n(&row->total, __ATOMIC_RELAXED) - __atomic_load_n(&row->nested, __ATOMIC_RELAXED);
}

static uint64_t inside(const struct mdl_thread *thread, const struct mdl_function *function) {
  const struct mdl_row *row = thread->rows && function->index < session->function_capacity
                                  ? ((const struct mdl_row *const *)thread->rows)[function->index]
                                  : NULL;
  return row ? outermost_ticks(row) : 0;
}

void record_starts(const struct mdl_thread *thread, struct mdl_call *call, const struct mdl_function *function,
                   uint32_t weight) {
  call->inside = weight == 1 ? inside(thread, function) : MDL_CALL_WEIGHED | weight;
  uint64_t tsc = is_cpu_time() && !is_exact() ? __rdtsc() : 0;
  call->start = record_now();
  /* After reading the clock: time added by an earlier handler is not part of this call. */
  ordered();
  call->before = tsc ? tsc : __atomic_load_n(&thread->taken, __ATOMIC_RELAXED);
}

/* Counts a call whose duration finds no memory. */
static void refuse(struct mdl_thread *thread) {
  add(&thread->refused, 1);
  if (thread->apart) {
    apart_refuses_call();
  }
}

void record_in_row(struct mdl_thread *thread, const struct mdl_function *function, uint64_t inside, uint64_t ticks,
                   uint64_t self, uint32_t weight) {
  struct mdl_row *row = record_row(thread, function);
  if (!row) {
    refuse(thread);
    return;
  }
  uint64_t within = outermost_ticks(row) - inside;
  if (weight == 1 && (int64_t)within > 0) {
    add(&row->nested, within < ticks ? within : ticks);
  }
  add(&row->count, weight);
  add(&row->total, ticks * weight);
  add(&row->self, self);
  if (!is_exact()) {
    add(&row->samples, 1);
  }
  uint32_t most = __atomic_load_n(&row->weight, __ATOMIC_RELAXED);
  if (weight > 1 && weight > most) {
    __atomic_store_n(&row->weight, weight, __ATOMIC_RELAXED);
  }
  uint64_t seen = __atomic_load_n(&row->min, __ATOMIC_RELAXED);
  while (ticks < seen &&
         !__atomic_compare_exchange_n(&row->min, &seen, ticks, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  seen = __atomic_load_n(&row->max, __ATOMIC_RELAXED);
  while (ticks > seen &&
         !__atomic_compare_exchange_n(&row->max, &seen, ticks, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  unsigned shift = 63u - (unsigned)__builtin_clzll(ticks | 255) - 7u;
  uint64_t index = (ticks >> shift) + ((uint64_t)shift << 7);
  uint64_t last = MDL_ROW_CHUNKS * MDL_CHUNK_SLOTS - 1;
  if (index > last) {
    index = last;
  }
  uint64_t *chunk = record_chunk(row, (uint32_t)(index / MDL_CHUNK_SLOTS));
  if (chunk) {
    add(&chunk[index % MDL_CHUNK_SLOTS], weight);
  } else {
    refuse(thread);
  }
}

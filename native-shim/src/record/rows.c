#include "record/rows.h"

#include "record/frames.h"
#include "record/interruptible.h"
#include "record/mode.h"
#include "session/memory.h"

#include <stddef.h>

static struct mdl_row *row_of(struct mdl_thread *thread, const struct mdl_function *function) {
  if (!thread->rows || function->index >= session->function_capacity) {
    return NULL;
  }
  uint64_t *slot = (uint64_t *)thread->rows + function->index;
  uint64_t at = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!at) {
    struct mdl_row *row = (struct mdl_row *)session_allocate(sizeof *row);
    if (!row) {
      return NULL;
    }
    row->min = ~0ULL;
    row->function = function->index;
    /* A handler may have been here meanwhile: its row stays. */
    if (__atomic_compare_exchange_n(slot, &at, (uintptr_t)row, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      return row;
    }
  }
  return (struct mdl_row *)at;
}

static uint64_t *chunk_of(struct mdl_row *row, uint32_t chunk) {
  return (uint64_t *)session_allocate_once(&row->chunks[chunk], MDL_CHUNK_SLOTS * sizeof(uint64_t));
}

/* Whether it is around a call with this key. One that a jump has left over has no higher key. */
static bool is_call_of(uint64_t function, const struct mdl_frame *frame, uint64_t key) {
  return __atomic_load_n(&frame->key, __ATOMIC_RELAXED) > key && frame->function == function;
}

/* The row's outermost call, if it runs and its frame is below `end`. The block may have had another shadow stack. */
static bool has_outermost(const struct mdl_thread *thread, const struct mdl_row *row, uint64_t function,
                          const struct mdl_frame *end, uint64_t key) {
  uint64_t at = __atomic_load_n(&row->outermost, __ATOMIC_RELAXED);
  return at > thread->sp_base && at < (uintptr_t)end && is_call_of(function, (const struct mdl_frame *)at, key);
}

static void find_outermost(const struct mdl_thread *thread, struct mdl_row *row, uint64_t function,
                           const struct mdl_frame *end, uint64_t key) {
  for (const struct mdl_frame *frame = (const struct mdl_frame *)thread->sp_base + 1; frame < end; frame++) {
    if (is_call_of(function, frame, key)) {
      __atomic_store_n(&row->outermost, (uintptr_t)frame, __ATOMIC_RELAXED);
      return;
    }
  }
}

static bool is_nested(const struct mdl_thread *thread, struct mdl_row *row, const struct mdl_function *function,
                      const struct mdl_frame *frame) {
  if (frame && !record_is_stacked(thread, frame)) {
    return false; /* its stack is no thread's own: what else runs there is not known */
  }
  const struct mdl_frame *end = frame ? frame : (const struct mdl_frame *)thread->sp;
  uint64_t key = frame ? frame->key : 0;
  if (!__atomic_load_n(&row->outermost, __ATOMIC_RELAXED)) {
    find_outermost(thread, row, (uintptr_t)function, end, key);
  }
  return has_outermost(thread, row, (uintptr_t)function, end, key);
}

void record_outermost(struct mdl_thread *thread, const struct mdl_frame *frame) {
  if (!thread->rows || weight_of(frame) != 1) {
    return; /* of what is timed by chance, the calls around are not known */
  }
  uint64_t index = function_of(frame)->index;
  struct mdl_row *row =
      index < session->function_capacity ? ((struct mdl_row **)thread->rows)[index] : NULL;
  if (row && !has_outermost(thread, row, frame->function, frame, frame->key)) {
    __atomic_store_n(&row->outermost, (uintptr_t)frame, __ATOMIC_RELAXED);
  }
}

void record_in_row(struct mdl_thread *thread, const struct mdl_function *function, const struct mdl_frame *frame,
                   uint64_t ticks, uint64_t self, uint32_t weight) {
  struct mdl_row *row = row_of(thread, function);
  if (!row) {
    add(&thread->refused, 1);
    return;
  }
  add(&row->count, weight);
  add(&row->total, ticks * weight);
  add(&row->self, self);
  if (weight == 1 && is_nested(thread, row, function, frame)) {
    add(&row->nested, ticks);
  }
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
  uint64_t *chunk = chunk_of(row, (uint32_t)(index / MDL_CHUNK_SLOTS));
  if (chunk) {
    add(&chunk[index % MDL_CHUNK_SLOTS], weight);
  } else {
    add(&thread->refused, 1);
  }
}

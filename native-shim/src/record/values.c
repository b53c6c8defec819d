/*
 * Per-thread values: cleaned up when a thread takes a block and when it ends.
 */
#include "record/values.h"

#include "os/sys.h"
#include "session/memory.h"

#include <x86intrin.h>

static enum mdl_value_kind kind_of(uint32_t value) {
  const uint8_t *kinds = (const uint8_t *)__atomic_load_n(&session->value_kinds, __ATOMIC_ACQUIRE);
  return kinds ? (enum mdl_value_kind)__atomic_load_n(&kinds[value], __ATOMIC_ACQUIRE) : MDL_VALUE_NONE;
}

/* The previous owner may have been killed in a body or while a timer ran, at an unknown time. */
void values_begin(struct mdl_thread *thread) {
  uint64_t *values = (uint64_t *)thread->values;
  thread->in_call = 0;
  for (uint32_t i = 0; values && i < MDL_VALUES; i++) {
    if (i == MDL_VALUE_DEPTH || kind_of(i) >= MDL_VALUE_FLAG) {
      values[i] = 0;
    }
  }
}

static void stop(uint64_t *timer, uint64_t now) {
  if (timer[MDL_TIMER_NESTING] != 0) {
    timer[MDL_TIMER_TOTAL] += now - timer[MDL_TIMER_START];
    timer[MDL_TIMER_NESTING] = 0;
  }
}

void values_end(struct mdl_thread *thread) {
  uint64_t *values = (uint64_t *)thread->values;
  for (uint32_t i = 0; values && i < MDL_VALUES; i++) {
    switch (kind_of(i)) {
      case MDL_VALUE_FLAG: values[i] = 0; break;
      case MDL_WALL_TIMER: stop(&values[i], __rdtsc()); break;
      case MDL_PROCESS_TIMER: stop(&values[i], clock_nanos(CLOCK_THREAD_CPUTIME_ID)); break;
      default: break;
    }
  }
}

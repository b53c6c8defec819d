#include "record/ring.h"

#include "record/interruptible.h"

enum { RING_MARGIN = 64 /* nested signal handlers may all pass the check for room */ };

void record_in_ring(struct mdl_thread *thread, const struct mdl_function *function, uint64_t caller, uint64_t start,
                    uint64_t ticks) {
  uint64_t filled = __atomic_load_n(&thread->head, __ATOMIC_RELAXED) - __atomic_load_n(&thread->tail, __ATOMIC_ACQUIRE);
  if (filled >= thread->ring_mask + 1 - RING_MARGIN) {
    add(&thread->dropped, 1);
    return;
  }
  uint64_t position = 1;
  __asm__ volatile("xaddq %0, %1" : "+r"(position), "+m"(thread->head) : : "cc");
  struct mdl_record *record = (struct mdl_record *)thread->ring + (position & thread->ring_mask);
  record->start = start;
  record->duration = ticks;
  record->caller = caller;
  record->function = function->index;
  __atomic_store_n(&record->seq, (uint32_t)(position + 1), __ATOMIC_RELEASE);
}

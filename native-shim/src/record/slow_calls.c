#include "record/slow_calls.h"

#include "os/self.h"
#include "os/sys.h"
#include "record/interruptible.h"
#include "session/apart.h"
#include "session/life.h"
#include "session/memory.h"

#include <x86intrin.h>

/* Callees that took a smaller part of a slow call's time are left out, so a tree has at most this many calls a level. */
enum { CALLEES_MAX = 256 };

static struct mdl_slow_calls *slow_calls(void) {
  return session ? (struct mdl_slow_calls *)__atomic_load_n(&session->slow, __ATOMIC_ACQUIRE) : NULL;
}

void slow_calls_begin(struct mdl_thread *thread) {
  thread->slow_kept = thread->slow_head;
  thread->cpu_due = 0;
}

/* 0: unknown, because a sandbox may kill the process for a system call. */
static uint64_t cpu_nanos(void) {
  return process_is_confined || agent_is_dead() ? 0 : clock_nanos(CLOCK_THREAD_CPUTIME_ID);
}

static struct mdl_slow_call *at(const struct mdl_thread *thread, uint64_t position) {
  return (struct mdl_slow_call *)thread->slow_ring + position % MDL_SLOW_RING;
}

static bool is_at(const struct mdl_slow_call *record, uint64_t position) {
  return __atomic_load_n(&record->seq, __ATOMIC_ACQUIRE) == (uint32_t)(position + 1);
}

/* Position of a new record in the thread's ring; UINT64_MAX if there is no memory. */
static uint64_t reserve(struct mdl_thread *thread) {
  if (!apart_allocate_once(&thread->slow_ring, MDL_SLOW_RING * sizeof(struct mdl_slow_call))) {
    add(&thread->refused, 1);
    return UINT64_MAX;
  }
  uint64_t position = 1;
  __asm__ volatile("xaddq %0, %1" : "+r"(position), "+m"(thread->slow_head) : : "cc");
  __atomic_store_n(&at(thread, position)->seq, 0, __ATOMIC_RELEASE);
  return position;
}

static uint64_t oldest(uint64_t position) { return position < MDL_SLOW_RING ? 0 : position - MDL_SLOW_RING + 1; }

void slow_calls_read_cpu(struct mdl_thread *thread) {
  const struct mdl_slow_calls *slow = slow_calls();
  uint64_t position = slow ? reserve(thread) : UINT64_MAX;
  uint64_t now = __rdtsc();
  if (position != UINT64_MAX) {
    struct mdl_slow_call *reading = at(thread, position);
    reading->start = reading->end = now;
    reading->cpu_nanos = cpu_nanos();
    reading->function = MDL_SLOW_READING;
    reading->tid = (int32_t)thread->tid;
    __atomic_store_n(&reading->seq, (uint32_t)(position + 1), __ATOMIC_RELEASE);
  }
  thread->cpu_due = slow ? now + slow->reading_ticks : UINT64_MAX;
}

/* The thread's CPU time during a call, from the last reading before it. */
static void measure(const struct mdl_thread *thread, struct mdl_slow_call *call, uint64_t position) {
  call->on_cpu = 0;
  call->lag = UINT64_MAX;
  uint64_t first = oldest(position);
  for (uint64_t i = position; call->cpu_nanos != 0 && i-- > first;) {
    const struct mdl_slow_call *earlier = at(thread, i);
    if (is_at(earlier, i) && earlier->end <= call->start) {
      if (earlier->cpu_nanos != 0 && earlier->tid == call->tid && earlier->cpu_nanos <= call->cpu_nanos) {
        call->on_cpu = call->cpu_nanos - earlier->cpu_nanos;
        call->lag = call->start - earlier->end;
      }
      return;
    }
  }
}

static bool belongs(const struct mdl_slow_call *record, const struct mdl_slow_call *call) {
  return record->function != MDL_SLOW_READING && record->end > call->start &&
         record->end - record->start >= (call->end - call->start) / CALLEES_MAX;
}

/* Step 2. A handler's slow calls may claim records in between: each claim is one compare-and-exchange. */
static void keep(struct mdl_slow_calls *slow, struct mdl_thread *thread, const struct mdl_slow_call *call, uint64_t position) {
  uint64_t first, kept = __atomic_load_n(&thread->slow_kept, __ATOMIC_RELAXED);
  do {
    if (kept > position) {
      return;
    }
    first = kept > oldest(position) ? kept : oldest(position);
  } while (!__atomic_compare_exchange_n(&thread->slow_kept, &kept, position + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  __atomic_fetch_add(&slow->slow, 1, __ATOMIC_RELAXED);
  if (first > kept && at(thread, first)->end > call->start) {
    __atomic_fetch_add(&slow->cut, 1, __ATOMIC_RELAXED);
  }
  uint64_t count = 0;
  for (uint64_t i = first; i <= position; i++) {
    count += is_at(at(thread, i), i) && belongs(at(thread, i), call);
  }
  uint64_t next = __atomic_fetch_add(&slow->next, count, __ATOMIC_RELAXED);
  for (uint64_t i = first, end = next + count; i <= position && next < end; i++) {
    struct mdl_slow_call record = *at(thread, i);
    if (is_at(at(thread, i), i) && belongs(&record, call)) {
      struct mdl_slow_call *to = (struct mdl_slow_call *)slow->log + next % MDL_SLOW_LOG;
      __atomic_store_n(&to->seq, 0, __ATOMIC_RELAXED);
      __atomic_thread_fence(__ATOMIC_RELEASE);
      record.seq = 0;
      *to = record;
      __atomic_store_n(&to->seq, (uint32_t)(++next), __ATOMIC_RELEASE);
    }
  }
}

void slow_calls_returned(struct mdl_thread *thread, const struct mdl_function *function, uint64_t start, uint64_t end) {
  struct mdl_slow_calls *slow = slow_calls();
  uint64_t ticks = end - start;
  if (!slow || ticks < function->slow || function->slow == UINT32_MAX) {
    return;
  }
  uint64_t position = reserve(thread);
  if (position == UINT64_MAX) {
    return;
  }
  const uint64_t *limits = (const uint64_t *)slow->limits;
  struct mdl_slow_call *record = at(thread, position);
  record->start = start;
  record->end = end;
  record->limit = slow->threshold ? slow->threshold : limits ? __atomic_load_n(&limits[function->index], __ATOMIC_RELAXED) : 0;
  record->cpu_nanos = cpu_nanos();
  record->function = function->index;
  record->tid = (int32_t)thread->tid;
  record->pid = (int32_t)thread->pid;
  measure(thread, record, position);
  thread->cpu_due = end + slow->reading_ticks;
  struct mdl_slow_call call = *record;
  __atomic_store_n(&record->seq, (uint32_t)(position + 1), __ATOMIC_RELEASE);
  if (call.limit != 0 && ticks >= call.limit) {
    keep(slow, thread, &call, position);
  }
}

void slow_calls_saw_wait(int32_t tid, int32_t pid, uint32_t node, uint64_t now, bool same, uint64_t *last) {
  struct mdl_slow_calls *slow = slow_calls();
  if (!slow) {
    return;
  }
  struct mdl_slow_wait *waits = (struct mdl_slow_wait *)slow->waits;
  uint64_t count = slow->wait_count;
  if (same && *last < count && count - *last < MDL_SLOW_WAITS) {
    __atomic_store_n(&waits[*last % MDL_SLOW_WAITS].until, now, __ATOMIC_RELAXED);
    return;
  }
  waits[count % MDL_SLOW_WAITS] = (struct mdl_slow_wait){.since = now, .until = now, .node = node, .tid = tid, .pid = pid};
  *last = count;
  __atomic_store_n(&slow->wait_count, count + 1, __ATOMIC_RELEASE);
}

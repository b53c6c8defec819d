#include "session/blocks.h"

#include "session/owner.h"

#include <stddef.h>

/* With many threads, rings shrink from 256 KiB to 32 KiB each, so that thousands of threads have room. */
enum { RING_RECORDS = 8192, RING_RECORDS_OF_MANY = 1024, BLOCKS_KEPT = 64 };

static struct mdl_thread *claim_own(const struct mdl_process *self) {
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    if (thread->process == (uintptr_t)self &&
        __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MDL_THREAD_FREE && owner_take(thread->owner)) {
      if (thread->process == (uintptr_t)self) {
        return thread;
      }
      owner_release(thread->owner);
    }
  }
  return NULL;
}

/*
 * Requires the owner's lock. Calls so far stay credited to the block's previous process. All calls have been published.
 */
static void credit(struct mdl_thread *thread) {
  uint32_t count = __atomic_load_n(&session->function_count, __ATOMIC_ACQUIRE);
  const uint64_t *calls = (const uint64_t *)thread->calls;
  struct mdl_process *process = (struct mdl_process *)thread->process;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
  }
  if (process) {
    __atomic_fetch_add(&process->calls, sum - thread->credited, __ATOMIC_RELAXED);
  }
  thread->credited = sum;
  if (sum) {
    thread->shared = 1;
  }
}

/* A block of any process whose thread has ended or was killed. */
static struct mdl_thread *claim_any(struct mdl_process *self) {
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    if (owner_take(thread->owner)) {
      if (thread->process != (uintptr_t)self) {
        credit(thread);
        thread->apart = 0;
        __atomic_store_n(&thread->process, (uintptr_t)self, __ATOMIC_RELEASE);
      }
      return thread;
    }
  }
  return NULL;
}

bool blocks_disown(const struct mdl_process *process) {
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    if (__atomic_load_n(&thread->process, __ATOMIC_ACQUIRE) == (uintptr_t)process) {
      if (!owner_take(thread->owner)) {
        return false; /* its next owner has not yet read the previous owner */
      }
      if (thread->process == (uintptr_t)process) {
        credit(thread);
        __atomic_store_n(&thread->process, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&thread->state, MDL_THREAD_FREE, __ATOMIC_RELEASE);
      }
      owner_release(thread->owner);
    }
  }
  return true;
}

/* Whether each process can have its own blocks, so that calls are known by process and function. */
static bool is_roomy(void) {
  return __atomic_load_n(&session->thread_count, __ATOMIC_RELAXED) < BLOCKS_KEPT &&
         __atomic_load_n(&session->arena_next, __ATOMIC_RELAXED) < session->limit / 4;
}

/* Adjacent in memory: each new process scans them all, and each page that it touches costs a fault. */
static struct mdl_thread *new_block(void) {
  enum { STRIDE = (sizeof(struct mdl_thread) + 63) / 64 * 64 };
  uint64_t places = session_allocate_once(&session->thread_places, BLOCKS_KEPT * STRIDE);
  uint32_t taken = places ? __atomic_fetch_add(&session->thread_places_taken, 1, __ATOMIC_RELAXED) : BLOCKS_KEPT;
  return (struct mdl_thread *)(taken < BLOCKS_KEPT ? places + (uint64_t)taken * STRIDE
                                                   : session_allocate(sizeof(struct mdl_thread)));
}

static struct mdl_thread *create(struct mdl_process *self) {
  struct mdl_thread *thread = new_block();
  if (!thread) {
    return NULL;
  }
  bool rows = session->flags & (MDL_EXACT | MDL_MIXED);
  bool ring = !(session->flags & MDL_EXACT);
  if (rows) {
    thread->rows = session_allocate(session->function_capacity * sizeof(uint64_t));
  }
  bool countdowns = session->flags & MDL_MIXED;
  if (countdowns) {
    thread->countdowns = session_allocate(session->function_capacity * sizeof(struct mdl_countdown));
  }
  if (ring) {
    bool many = __atomic_load_n(&session->thread_count, __ATOMIC_RELAXED) >= BLOCKS_KEPT;
    uint64_t records = many ? RING_RECORDS_OF_MANY : RING_RECORDS;
    thread->ring = session_allocate(records * sizeof(struct mdl_record));
    thread->ring_mask = records - 1;
  }
  thread->calls = session_allocate(session->function_capacity * sizeof(uint64_t));
  if (!thread->calls || (ring && !thread->ring) || (rows && !thread->rows) || (countdowns && !thread->countdowns)) {
    return NULL;
  }
  owner_create(thread->owner);
  owner_take(thread->owner);
  thread->process = (uintptr_t)self;
  thread->next = __atomic_load_n(&session->threads, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&session->threads, &thread->next, (uintptr_t)thread, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
  __atomic_fetch_add(&session->thread_count, 1, __ATOMIC_RELAXED);
  return thread;
}

struct mdl_thread *blocks_take(struct mdl_process *process) {
  struct mdl_thread *thread = claim_own(process);
  if (!thread && is_roomy()) {
    thread = create(process);
  }
  if (!thread) {
    thread = claim_any(process);
  }
  return thread ? thread : create(process);
}

void blocks_give_back(struct mdl_thread *thread) {
  __atomic_store_n(&thread->state, MDL_THREAD_FREE, __ATOMIC_RELEASE);
  owner_release(thread->owner);
}

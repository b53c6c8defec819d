/*
 * Recording off the fast path: what generated code calls when a thread has no block yet, a frame is not on top, a
 * row is missing, or a window is over. Also the whole of it, for sites without a fast path.
 *
 * A signal handler with probes may interrupt generated code, or code here, at any instruction. So a push reserves its
 * frame before it fills it (the key last), a pop reads before it releases (key 0, then sp), and a counter is advanced
 * by one instruction.
 *
 * Closing a sampling window (record_expire_*, by any application thread) against opening the next (record_arm, by the
 * agent alone):
 *
 * Assumes    A1 x86-TSO: a locked instruction is a full fence between the stores before and the loads after it
 *            (Intel SDM vol. 3, 9.2; AMD APM vol. 2, 7.2)
 *            A2 no thread is killed between steps 1 and 4 of a closer while its family lives on: a function would
 *               have no windows any more
 *            A3 none is killed with a frame open: exit sites of that function would stay on
 * Guarantees G1 a late closer never switches off a site of a newer window
 *            G2 while a frame is open, the exit sites of its function stay on
 * Progress   P1 nobody waits: a function that is being closed is left out by arm and has its turn next epoch
 *
 *   closer                                   agent (arm)
 *   1 closers++           (locked)           1 state = REARMING           (locked)
 *   2 read state, deadline                   2 closers != 0: state = EXPIRED, leave out
 *   3 over: store `off`;                     3 budget, exit sites on, deadline
 *     state: SAMPLING to EXPIRED  (locked)
 *   4 closers--           (locked)           4 state = SAMPLING           (release)
 *                                            5 entry sites on
 *
 * G1: closer 1-2 and agent 1-2 are Dekker's: either the agent reads closers != 0 and opens no window, or the closer
 * reads REARMING or later. REARMING it leaves alone; of SAMPLING it also sees the new deadline, and stores `off` only
 * when that has passed too. A closer that ends between the agent's 1 and 2 has stored before the agent does, and must
 * not undo REARMING, which keeps the next closer away: so its step 3 exchanges only SAMPLING.
 * G2: an entry counts its frame as open (locked) and then reads the state; unless that is SAMPLING it takes the frame
 * back. A closer of exits reads EXPIRED and then `open`. By A1 either the entry reads EXPIRED or the closer reads
 * open > 0.
 */
#include "record/calls.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  FRAMES = 131072,
  RING_RECORDS = 8192,
  RING_MARGIN = 64, /* nested signal handlers may pass the check for room together */
  BLOCKS_KEPT = 64,
  STACK_BYTES = (FRAMES + 1) * (int)sizeof(struct mdl_frame),
};
#define SENTINEL (~0ULL) /* of a thread without a shadow stack; else the end of its own stack */
#define STACK_REACH (64ULL << 20) /* keys further apart belong to different stacks */

THREAD_LOCAL struct mdl_thread *mdl_self;

/* The block of threads that record nothing: the agent's, those that found no memory, those that are ending. Its stack
 * is full and empty at once, so generated code never writes to it. */
static struct mdl_frame mute_stack[1] = {{.key = SENTINEL}};
static struct mdl_thread mute = {
    .sp = (uintptr_t)(mute_stack + 1),
    .sp_limit = (uintptr_t)(mute_stack + 1),
    .sp_base = (uintptr_t)mute_stack,
};

/* The stores around it stay in this order for a handler on this thread; the processor keeps it anyway. */
static inline void ordered(void) { atomic_signal_fence(memory_order_seq_cst); }

static inline void add(uint64_t *counter, uint64_t amount) {
  __asm__ volatile("addq %1, %0" : "+m"(*counter) : "r"(amount) : "cc");
}

/* Whether every call is recorded, in the threads' rows; else those in windows, in the rings. */
static inline bool is_exact(const struct mdl_function *function) {
  return (session->flags & MDL_EXACT) || (function->flags & MDL_EVERY_CALL);
}

static inline bool is_cpu_time(void) { return session->flags & MDL_CPU_TIME; }

/* When the agent has left, a sandbox may end the process for a system call (alone.c). */
uint64_t record_now(void) {
  if (!is_cpu_time()) {
    return __rdtsc();
  }
  return agent_is_dead() ? 0 : clock_nanos(CLOCK_THREAD_CPUTIME_ID);
}

void record_starts(struct mdl_frame *frame) {
  frame->children = is_cpu_time() && !(session->flags & MDL_EXACT) ? __rdtsc() : 0;
  frame->tsc = record_now();
}

static inline struct mdl_frame *top(const struct mdl_thread *thread) {
  return (struct mdl_frame *)__atomic_load_n(&thread->sp, __ATOMIC_RELAXED) - 1;
}

/* ---- the thread's block */

static struct mdl_thread *newest(void) {
  return (struct mdl_thread *)__atomic_load_n(&session->threads, __ATOMIC_ACQUIRE);
}

static struct mdl_thread *after(const struct mdl_thread *thread) { return (struct mdl_thread *)thread->next; }

static struct mdl_thread *claim_own(void) {
  for (struct mdl_thread *thread = newest(); thread; thread = after(thread)) {
    if (thread->process == (uintptr_t)family_self &&
        __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MDL_THREAD_FREE && owner_take(thread->owner)) {
      if (thread->process == (uintptr_t)family_self) {
        return thread;
      }
      owner_release(thread->owner);
    }
  }
  return NULL;
}

/* With the owner's lock held: the calls so far stay those of the process that had the block. */
static void credit(struct mdl_thread *thread) {
  const uint64_t *calls = (const uint64_t *)thread->calls;
  struct mdl_process *process = (struct mdl_process *)thread->process;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < session->function_capacity; i++) {
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

/* Of any process, whether its thread has ended or is gone. */
static struct mdl_thread *claim_any(void) {
  for (struct mdl_thread *thread = newest(); thread; thread = after(thread)) {
    if (owner_take(thread->owner)) {
      if (thread->process != (uintptr_t)family_self) {
        credit(thread);
        __atomic_store_n(&thread->process, (uintptr_t)family_self, __ATOMIC_RELEASE);
      }
      return thread;
    }
  }
  return NULL;
}

bool record_disown(const struct mdl_process *process) {
  for (struct mdl_thread *thread = newest(); thread; thread = after(thread)) {
    if (__atomic_load_n(&thread->process, __ATOMIC_ACQUIRE) == (uintptr_t)process) {
      if (!owner_take(thread->owner)) {
        return false; /* its next owner has not read yet whose it was */
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

/* Whether each process can have blocks of its own, so that its functions' calls are known. */
static bool is_roomy(void) {
  return __atomic_load_n(&session->thread_count, __ATOMIC_RELAXED) < BLOCKS_KEPT &&
         __atomic_load_n(&session->arena_next, __ATOMIC_RELAXED) < session->limit / 4;
}

static struct mdl_thread *create(void) {
  struct mdl_thread *thread = (struct mdl_thread *)session_allocate(sizeof *thread);
  if (!thread) {
    return NULL;
  }
  bool rows = session->flags & (MDL_EXACT | MDL_MIXED);
  bool ring = !(session->flags & MDL_EXACT);
  if (rows) {
    thread->rows = session_allocate(session->function_capacity * sizeof(uint64_t));
  }
  if (ring) {
    thread->ring = session_allocate(RING_RECORDS * sizeof(struct mdl_record));
    thread->ring_mask = RING_RECORDS - 1;
  }
  thread->calls = session_allocate(session->function_capacity * sizeof(uint64_t));
  if (!thread->calls || (ring && !thread->ring) || (rows && !thread->rows)) {
    return NULL;
  }
  owner_create(thread->owner);
  owner_take(thread->owner);
  thread->process = (uintptr_t)family_self;
  thread->next = __atomic_load_n(&session->threads, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&session->threads, &thread->next, (uintptr_t)thread, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
  __atomic_fetch_add(&session->thread_count, 1, __ATOMIC_RELAXED);
  return thread;
}

/*
 * The shadow stack is the process's own, so it does not stay with the block: any process of a forked family may
 * claim a free block, whoever had it before.
 */
static bool give_stack(struct mdl_thread *thread) {
  void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) {
    return false;
  }
  struct mdl_frame *frames = stack;
  struct stack own = stack_of_thread();
  frames[0].key = own.high;
  thread->stack_low = own.low;
  thread->sp_base = (uintptr_t)frames;
  thread->sp_limit = (uintptr_t)(frames + FRAMES + 1);
  thread->sp = (uintptr_t)(frames + 1);
  return true;
}

static struct mdl_thread *acquire(void) {
  if (family_agent_is_gone()) {
    code_switch_all_off();
    return NULL;
  }
  struct mdl_thread *thread = claim_own();
  if (!thread && is_roomy()) {
    thread = create();
  }
  if (!thread) {
    thread = claim_any();
  }
  if (!thread) {
    thread = create();
  }
  if (thread && !give_stack(thread)) {
    __atomic_store_n(&thread->state, MDL_THREAD_FREE, __ATOMIC_RELEASE);
    owner_release(thread->owner);
    return NULL;
  }
  return thread;
}

static struct mdl_thread *attach(void) {
  int error = errno;
  sigset_t before;
  signals_block_all_but_trap(&before); /* a handler with probes would attach this thread a second time */
  if (!mdl_self) {
    struct mdl_thread *thread = NULL;
    if (session && !is_agent_thread) {
      thread = acquire();
      if (thread) {
        thread->tid = (uint32_t)syscall(SYS_gettid);
        thread->pid = (uint32_t)getpid();
        thread->cpu_nanos = clock_nanos(CLOCK_THREAD_CPUTIME_ID);
        snippets_begin(thread);
        __atomic_store_n(&thread->in_client, family_has_agent() ? 0 : NO_CLIENTS, __ATOMIC_RELAXED);
        __atomic_store_n(&thread->state, MDL_THREAD_LIVE, __ATOMIC_RELEASE);
        process_watch_thread();
      } else {
        __atomic_fetch_add(&session->threads_refused, 1, __ATOMIC_RELAXED);
      }
    }
    mdl_self = thread ? thread : &mute;
  }
  signals_restore(&before);
  errno = error;
  return mdl_self;
}

static inline struct mdl_thread *self(void) {
  struct mdl_thread *thread = mdl_self;
  return __builtin_expect(thread != NULL, 1) ? thread : attach();
}

void record_mute_thread(void) { mdl_self = &mute; }

struct mdl_thread *record_thread(void) {
  struct mdl_thread *thread = self();
  return thread == &mute ? NULL : thread;
}

struct mdl_thread *record_known_thread(void) {
  struct mdl_thread *thread = mdl_self;
  return thread == &mute ? NULL : thread;
}

/* ---- frames */

static void push(struct mdl_thread *thread, struct mdl_function *function, uint64_t key) {
  struct mdl_frame *frame = (struct mdl_frame *)thread->sp;
  __atomic_store_n(&thread->sp, (uintptr_t)(frame + 1), __ATOMIC_RELAXED);
  ordered();
  frame->function = (uintptr_t)function;
  frame->site = 0;
  record_starts(frame);
  ordered();
  __atomic_store_n(&frame->key, key, __ATOMIC_RELAXED);
}

static void release(struct mdl_thread *thread, struct mdl_frame *frame) {
  frame->flags = 0; /* probes in the body leave it as they find it */
  ordered();
  __atomic_store_n(&frame->key, 0, __ATOMIC_RELAXED);
  ordered();
  __atomic_store_n(&thread->sp, (uintptr_t)frame, __ATOMIC_RELAXED);
}

/* The sentinel has no function. */
static inline bool is_call(const struct mdl_frame *frame) { return frame->key != 0 && frame->function != 0; }

bool record_is_stacked(const struct mdl_thread *thread, const struct mdl_frame *frame) {
  return (uintptr_t)frame > thread->sp_base && (uintptr_t)frame < thread->sp;
}

static inline struct mdl_function *function_of(const struct mdl_frame *frame) {
  return (struct mdl_function *)frame->function;
}

void record_discard(struct mdl_thread *thread, struct mdl_frame *last) {
  for (struct mdl_frame *frame = top(thread); frame >= last; frame--) {
    if (is_call(frame) && !(frame->flags & (MDL_FRAME_UNWOUND | MDL_FRAME_UNTIMED))) {
      if (!is_exact(function_of(frame)) && !frame->site) {
        __atomic_fetch_sub(&function_of(frame)->open, 1, __ATOMIC_SEQ_CST);
      }
      add(&thread->unmatched, 1);
    }
    release(thread, frame);
  }
}

/*
 * A call on the thread's own stack shows that frames below its key are gone. Not so when other stacks lie inside that
 * one: a frame whose return address a trampoline holds must then never be lost.
 */
bool record_shows_gone(struct mdl_thread *thread, uint64_t key) {
  const struct mdl_frame *base = (const struct mdl_frame *)thread->sp_base;
  if (key <= thread->stack_low || key > base->key) {
    return false;
  }
  stack_t alternate;
  if (raw_syscall(SYS_sigaltstack, NULL, &alternate) == 0 && !(alternate.ss_flags & SS_DISABLE)) {
    record_other_stack(alternate.ss_sp);
  }
  return key > thread->stack_low;
}

void record_other_stack(const void *low) {
  struct mdl_thread *thread = record_known_thread();
  if (thread && (uintptr_t)low >= thread->stack_low &&
      (uintptr_t)low < ((const struct mdl_frame *)thread->sp_base)->key) {
    thread->stack_low = UINT64_MAX; /* from now on no call is taken to run on the thread's own */
  }
}

/* The frame that the exit of `function` from `key` closes, on top when this returns; NULL when it is not there. Frames
 * of calls that cannot be running any more, since their stack frames lie below, are discarded on the way. */
static struct mdl_frame *frame_to_close(struct mdl_thread *thread, uint64_t function, uint64_t key) {
  for (;;) {
    struct mdl_frame *frame = top(thread);
    if (!is_call(frame) || frame->key > key || key - frame->key >= STACK_REACH) {
      return NULL;
    }
    if (frame->key < key) {
      if (frame->site && !record_shows_gone(thread, key)) {
        return NULL;
      }
      record_discard(thread, frame);
      continue;
    }
    for (struct mdl_frame *lower = frame; lower->key == key && !lower->site; lower--) {
      if (function_of(lower)->address == function) {
        if (lower != frame) {
          record_discard(thread, lower + 1);
        }
        return lower;
      }
    }
    return NULL;
  }
}

void record_detach(void) {
  struct mdl_thread *thread = mdl_self;
  mdl_self = &mute;
  if (!thread || thread == &mute) {
    return;
  }
  struct mdl_frame *base = (struct mdl_frame *)thread->sp_base;
  snippets_end(thread);
  record_discard(thread, base + 1);
  munmap(base, STACK_BYTES);
  __atomic_store_n(&thread->state, MDL_THREAD_FREE, __ATOMIC_RELEASE);
  owner_release(thread->owner);
}

/* ---- which function */

static struct mdl_function *look_up(uint64_t address) {
  const uint64_t *slots = (const uint64_t *)__atomic_load_n(&session->lookup, __ATOMIC_ACQUIRE);
  if (!slots) {
    return NULL;
  }
  uint64_t mask = session->lookup_mask;
  uint64_t slot = (((address >> 4) * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
  for (uint64_t tries = 0; tries <= mask; tries++, slot = (slot + 1) & mask) {
    struct mdl_function *function = (struct mdl_function *)__atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE);
    if (!function || function->address == address) {
      return function;
    }
  }
  return NULL;
}

/*
 * The function of a call at a site. A site whose function the scan could not tell learns it from its first call. One
 * whose calls turn out to vary (the compiler merged the ends of several functions) is told so, and then stays on.
 */
static struct mdl_function *identify(struct mdl_site *site, uint64_t address) {
  struct mdl_function *known = (struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  if (known->address == address) {
    return known;
  }
  struct mdl_function *found = look_up(address);
  if (!found || (__atomic_load_n(&site->flags, __ATOMIC_ACQUIRE) & MDL_VARIES)) {
    return found;
  }
  uint64_t expected = (uintptr_t)known;
  if (known->address != 0) {
    __atomic_fetch_or(&site->flags, MDL_VARIES, __ATOMIC_RELEASE);
    __atomic_store_n(&site->function, session->unknown_function, __ATOMIC_RELEASE);
  } else if (!__atomic_compare_exchange_n(&site->function, &expected, (uintptr_t)found, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED)) {
    return found; /* another thread was faster: the next call compares with what it found */
  } else if (__atomic_load_n(&site->flags, __ATOMIC_ACQUIRE) & MDL_VARIES) {
    __atomic_store_n(&site->function, session->unknown_function, __ATOMIC_RELEASE); /* told so in between */
  }
  __atomic_fetch_add(&session->learned, 1, __ATOMIC_RELEASE);
  return found;
}

/* ---- exact mode */

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

static void record(struct mdl_thread *thread, const struct mdl_function *function, uint64_t ticks, uint64_t own) {
  struct mdl_row *row = row_of(thread, function);
  if (!row) {
    add(&thread->refused, 1);
    return;
  }
  add(&row->count, 1);
  add(&row->total, ticks);
  add(&row->self, own);
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
    add(&chunk[index % MDL_CHUNK_SLOTS], 1);
  } else {
    add(&thread->refused, 1);
  }
}

void record_slow(struct mdl_function *function, uint64_t ticks, uint64_t own) {
  struct mdl_thread *thread = mdl_self;
  if (thread && thread != &mute) {
    record(thread, function, ticks, own);
  }
}

static void enter(struct mdl_thread *thread, struct mdl_function *function, uint64_t key) {
  /* Counted here and not at the exit: some calls never return. */
  add((uint64_t *)thread->calls + function->index, 1);
  if (thread->sp == thread->sp_limit) {
    add(&thread->overflow, 1);
    return;
  }
  push(thread, function, key);
}

void record_entry_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  struct mdl_thread *thread = self();
  if (thread == &mute) {
    return;
  }
  struct mdl_function *function = identify(site, address);
  if (function) {
    enter(thread, function, key);
  }
}

void record_exit_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  (void)site;
  uint64_t now = record_now();
  struct mdl_thread *thread = mdl_self;
  if (!thread || thread == &mute) {
    return;
  }
  struct mdl_frame *frame = frame_to_close(thread, address, key);
  if (!frame) {
    return;
  }
  record_returns(thread, frame, now);
  release(thread, frame);
}

/* ---- sampled mode */

static void count_toggles(uint64_t n) { __atomic_fetch_add(&session->toggles, n, __ATOMIC_RELAXED); }

static void switch_off(struct mdl_site *site) {
  code_record(site, false);
  code_fence();
  code_confirm(site);
  count_toggles(1);
}

void record_expire_entry(struct mdl_site *site) {
  if (family_agent_is_gone()) {
    code_switch_all_off(); /* nobody opens windows any more, or closes the others */
    return;
  }
  struct mdl_function *function = (struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  __atomic_fetch_add(&function->closers, 1, __ATOMIC_SEQ_CST);
  uint32_t state = __atomic_load_n(&function->state, __ATOMIC_SEQ_CST);
  if ((state == MDL_SAMPLING || state == MDL_EXPIRED) &&
      __rdtsc() > __atomic_load_n(&function->deadline, __ATOMIC_RELAXED)) {
    function->whole = 0;
    switch_off(site);
    uint32_t sampling = MDL_SAMPLING;
    __atomic_compare_exchange_n(&function->state, &sampling, MDL_EXPIRED, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
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

/* The call that was just counted: see SampledProfiler. None that would warm the caches for the fast path. */
static bool is_timed(const struct mdl_thread *thread, struct mdl_function *function) {
  uint32_t number = (uint32_t)((const uint64_t *)thread->calls)[function->index];
  uint32_t phase = __atomic_load_n(&function->run_phase, __ATOMIC_RELAXED);
  uint32_t mask = __atomic_load_n(&function->run_mask, __ATOMIC_RELAXED);
  if (((number + phase) & mask) != 0) {
    return false;
  }
  int32_t left = __atomic_sub_fetch(&function->remaining, 1, __ATOMIC_RELAXED);
  return left >= 0 && left < __atomic_load_n(&function->recorded, __ATOMIC_RELAXED);
}

void record_sample_entry_slow(struct mdl_site *site, uint64_t address, uint64_t key) {
  struct mdl_function *function = identify(site, address);
  if (!function) {
    return;
  }
  bool exact = is_exact(function);
  if (!exact && __rdtsc() > __atomic_load_n(&function->deadline, __ATOMIC_RELAXED)) {
    record_expire_entry(site);
    return;
  }
  struct mdl_thread *thread = self();
  if (thread == &mute) {
    return;
  }
  if (exact) {
    enter(thread, function, key);
    return;
  }
  add((uint64_t *)thread->calls + function->index, 1);
  if (!is_timed(thread, function)) {
    return;
  }
  if (thread->sp == thread->sp_limit) {
    add(&thread->overflow, 1);
    return;
  }
  __atomic_fetch_add(&function->open, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&function->state, __ATOMIC_SEQ_CST) != MDL_SAMPLING) {
    __atomic_fetch_sub(&function->open, 1, __ATOMIC_SEQ_CST);
    return;
  }
  push(thread, function, key);
}

bool record_begins(struct mdl_thread *thread, struct mdl_site *site) {
  struct mdl_function *function = (struct mdl_function *)site->function;
  bool exact = is_exact(function);
  if (!exact && __rdtsc() > __atomic_load_n(&function->deadline, __ATOMIC_RELAXED)) {
    record_expire_entry(site);
    return false;
  }
  /* Counted here and not at the return: some calls never return. */
  add((uint64_t *)thread->calls + function->index, 1);
  return exact || (is_timed(thread, function) &&
                   __atomic_load_n(&function->state, __ATOMIC_SEQ_CST) == MDL_SAMPLING);
}

static void write_record(struct mdl_thread *thread, const struct mdl_function *function, uint64_t caller,
                         uint64_t start, uint64_t ticks) {
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

/* `call_site`: where the call returns to. */
static void finish(struct mdl_thread *thread, const struct mdl_frame *frame, uint64_t call_site, uint64_t now) {
  struct mdl_frame *caller = record_is_stacked(thread, frame) && is_call(frame - 1) ? (struct mdl_frame *)frame - 1 : NULL;
  if (frame->flags & MDL_FRAME_UNTIMED) {
    if (caller) {
      add(&caller->children, frame->children);
    }
    return;
  }
  if (now == 0 || frame->tsc == 0) {
    return;
  }
  bool measured = frame->flags & MDL_FRAME_MEASURED;
  /* A thread's CPU time begins anew where a fork, or another thread, returns from the call. */
  uint64_t ticks = measured ? frame->tsc : now > frame->tsc ? now - frame->tsc : 0;
  struct mdl_function *function = function_of(frame);
  uint64_t start = is_cpu_time() ? frame->children : measured ? now - ticks : frame->tsc;
  if (!is_exact(function)) {
    write_record(thread, function, call_site, start, ticks);
    return;
  }
  /* Where others are sampled, callees would be incomplete. */
  bool complete = session->flags & MDL_EXACT;
  if (caller && !measured && complete) {
    add(&caller->children, ticks);
  }
  record(thread, function, ticks, complete ? ticks - frame->children : 0);
  if (__atomic_load_n(&function->remaining, __ATOMIC_RELAXED) > 0 &&
      __atomic_sub_fetch(&function->remaining, 1, __ATOMIC_RELAXED) >= 0) {
    write_record(thread, function, call_site, start, ticks);
  }
}

void record_returns(struct mdl_thread *thread, const struct mdl_frame *frame, uint64_t now) {
  finish(thread, frame, frame->ret, now);
}

void record_sample_exit_slow(struct mdl_site *site, uint64_t address, uint64_t key, uint64_t call_site) {
  uint64_t now = record_now();
  identify(site, address);
  struct mdl_thread *thread = mdl_self;
  struct mdl_frame *frame = NULL;
  if (thread && thread != &mute) {
    frame = frame_to_close(thread, address, key);
  }
  if (frame) {
    struct mdl_function *function = function_of(frame);
    bool inlined = site->owner != (uintptr_t)function;
    finish(thread, frame, inlined ? site->address : call_site, now);
    release(thread, frame);
    if (!is_exact(function)) {
      __atomic_fetch_sub(&function->open, 1, __ATOMIC_SEQ_CST);
    }
  }
  const struct mdl_function *function =
      (const struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&function->state, __ATOMIC_SEQ_CST) == MDL_EXPIRED &&
      __atomic_load_n(&function->open, __ATOMIC_SEQ_CST) == 0) {
    record_expire_exit(site);
  }
}

static uint64_t switch_all(const uint32_t *indices, uint32_t n, bool on) {
  struct mdl_site *sites = (struct mdl_site *)session->sites;
  for (uint32_t i = 0; i < n; i++) {
    code_record(&sites[indices[i]], on);
  }
  return n;
}

/* Of these functions, whose sites have been switched. */
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

/* Steps: see the head of this file. Exits go on before entries, so that no frame is opened that nothing would close. */
int64_t record_arm(const uint32_t *indices, const uint64_t *longest_ticks, int64_t n) {
  struct mdl_function *functions = (struct mdl_function *)session->functions;
  uint64_t stores = 0;
  for (int64_t i = 0; i < n && !agent_is_dead(); i++) {
    struct mdl_function *function = &functions[indices[i]];
    const uint32_t *list = (const uint32_t *)function->site_list;
    __atomic_exchange_n(&function->state, MDL_REARMING, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&function->closers, __ATOMIC_SEQ_CST) != 0) {
      __atomic_store_n(&function->state, MDL_EXPIRED, __ATOMIC_SEQ_CST);
      continue;
    }
    stores += switch_all(list, function->exit_sites, true);
    __atomic_store_n(&function->deadline, __rdtsc() + longest_ticks[i], __ATOMIC_RELAXED);
    __atomic_store_n(&function->state, MDL_SAMPLING, __ATOMIC_RELEASE);
    stores += switch_all(list + function->exit_sites, function->entry_sites, true);
  }
  confirm_all(indices, n);
  count_toggles(stores);
  if (agent_is_dead()) {
    code_switch_all_off(); /* died meanwhile: its loop may have run before these stores */
  }
  return (int64_t)stores;
}

/* The agent's way to close: the state first, so that no frame is opened after the exits have begun to switch off. */
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
  count_toggles(stores);
  return (int64_t)stores;
}

/* The CPU clock of a thread by its id: clock_getcpuclockid(3), for threads. */
static clockid_t cpu_clock_of(uint32_t tid) { return (clockid_t)(~tid << 3 | 6); }

/*
 * Thread by thread: the clock of the whole process does not include what its running threads have used since the
 * last tick of the scheduler, which may be milliseconds. Of forked processes the kernel shows no other.
 */
int64_t record_program_cpu_nanos(void) {
  static uint64_t total; /* the agent's thread alone comes here */
  uint32_t pid = (uint32_t)getpid();
  uint64_t at = __atomic_load_n(&session->threads, __ATOMIC_ACQUIRE);
  for (; at; at = ((struct mdl_thread *)at)->next) {
    struct mdl_thread *thread = (struct mdl_thread *)at;
    struct timespec used;
    if (thread->pid == pid && __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MDL_THREAD_LIVE &&
        clock_gettime(cpu_clock_of(thread->tid), &used) == 0) {
      uint64_t nanos = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
      if (nanos > thread->cpu_nanos) {
        total += nanos - thread->cpu_nanos;
        thread->cpu_nanos = nanos;
      }
    }
  }
  return (int64_t)(total + family_cpu_nanos());
}

#include "record/thread.h"

#include "code/code.h"
#include "os/signal_block.h"
#include "os/sys.h"
#include "os/thread_end.h"
#include "record/block_counts.h"
#include "record/frames.h"
#include "record/side_memory.h"
#include "record/slow_calls.h"
#include "record/values.h"
#include "session/apart.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define SENTINEL (~0ULL) /* key of a thread without a shadow stack; otherwise the end of its own stack */

/* Its shadow stack is both full and empty, and its own stack has no room, so generated code never writes to it. */
static struct mdl_frame mute_stack[1] = {{.key = SENTINEL}};
struct mdl_thread mute_thread = {
    .born = UINT64_MAX,
    .stack_room = UINT64_MAX,
    .sp = (uintptr_t)(mute_stack + 1),
    .sp_limit = (uintptr_t)(mute_stack + 1),
    .sp_base = (uintptr_t)mute_stack,
};

bool record_from_birth;

/* mdl_thread.born of all threads of the process. */
static uint64_t born;

/* The block of a thread that records nothing any more; it keeps its own until it ends. */
static THREAD_LOCAL struct mdl_thread *set_aside;

static struct mdl_thread *acquire(uint64_t here) {
  if (family_agent_is_gone()) {
    code_switch_all_off();
    return NULL;
  }
  family_lead();
  struct mdl_thread *thread = blocks_take(family_self);
  if (thread && !thread->apart) {
    apart_refuses_thread();
  }
  if (thread && !frames_create(thread, here)) {
    blocks_give_back(thread);
    return NULL;
  }
  return thread;
}

void record_prepare(void) {
  if (session) {
    record_thread();
  }
}

static struct mdl_thread *refuse(void) {
  if (session && !is_agent_thread) {
    __atomic_fetch_add(&session->threads_refused, 1, __ATOMIC_RELAXED);
    apart_refuses_thread();
  }
  block_counts_use(NULL);
  mdl_self = &mute_thread;
  return mdl_self;
}

static void attach(uint64_t here) {
  struct mdl_thread *thread = NULL;
  mdl_self = &mute_thread; /* functions called from here on may have probes, libc's included */
  if (session && !is_agent_thread) {
    thread = acquire(here);
    if (thread) {
      thread->tid = (uint32_t)raw_syscall(SYS_gettid);
      thread->pid = (uint32_t)getpid();
      thread->first = thread->head;
      slow_calls_begin(thread);
      thread->born = born;
      thread->taken = __rdtsc();
      thread->cpu_nanos = clock_nanos(CLOCK_THREAD_CPUTIME_ID);
      values_begin(thread);
      block_counts_use(thread);
      __atomic_store_n(&thread->in_client, family_has_agent() ? 0 : NO_CLIENTS, __ATOMIC_RELAXED);
      __atomic_store_n(&thread->state, MDL_THREAD_LIVE, __ATOMIC_RELEASE);
      thread_end_watch();
    }
  }
  if (thread) {
    mdl_self = thread;
  } else {
    refuse();
  }
}

struct mdl_thread *record_attach(void) {
  if (process_is_confined) {
    return refuse(); /* it would need system calls */
  }
  if (!is_agent_thread && tsc_is_forbidden_to_thread()) {
    return refuse();
  }
  int error = errno;
  uint64_t before = signals_block_word(); /* a handler with probes would attach this thread twice */
  if (!mdl_self) {
    side_stack_call(attach, (uintptr_t)__builtin_frame_address(0));
  }
  signals_restore_word(before);
  errno = error;
  return mdl_self;
}

struct record_pause record_pause(void) {
  struct record_pause pause = {.thread = mdl_self};
  if (pause.thread != &mute_thread) {
    signals_block_all_but_traps(&pause.signals);
    mdl_self = &mute_thread;
  }
  return pause;
}

void record_resume(const struct record_pause *pause) {
  if (pause->thread != &mute_thread) {
    mdl_self = pause->thread;
    signals_restore(&pause->signals);
  }
}

void record_mute_thread(void) { mdl_self = &mute_thread; }

void record_without_clock(void) {
  struct mdl_thread *thread = record_known_thread();
  atomic_store(&tsc_is_forbidden, true);
  if (thread) {
    set_aside = thread;
    values_end(thread);
  }
  if (mdl_self != &mute_thread) {
    refuse();
  }
}

void record_forked(void) {
  mdl_self = NULL; /* the inherited block belongs to the parent */
  born = atomic_load(&tsc_is_forbidden) ? UINT64_MAX : __rdtsc();
  set_aside = NULL;
}

uint64_t record_born(void) { return born; }

void record_other_stack(const void *low) {
  struct mdl_thread *thread = record_known_thread();
  if (thread) {
    frames_other_stack(thread, low);
  }
}

void record_detach(void) {
  struct mdl_thread *thread = set_aside ? set_aside : record_known_thread();
  mdl_self = &mute_thread;
  block_counts_use(NULL); /* others may get the block */
  if (thread) {
    if (!process_is_confined) { /* otherwise its timers go on and its memory stays */
      if (!set_aside) {
        values_end(thread);
      }
      frames_destroy(thread);
    }
    set_aside = NULL;
    blocks_give_back(thread);
  }
}

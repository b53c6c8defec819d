/*
 * The processes of a session: the one that has the agent, and its descendants by fork.
 *
 * They share the session's memory and the code that the agent has remapped. So one agent toggles the probes of all
 * processes, and each process records into its own blocks. Reuse of the blocks and records of ended processes:
 *
 * Assumes    A1 the kernel marks the robust mutexes of a thread that is gone, however it went: by exit, by a signal, by
 *               executing another program (get_robust_list(2))
 * Guarantees G1 a block is given to another thread, and a record to another process, only when its owner is gone
 *            G2 counters in blocks only grow, so nothing that was recorded is lost or counted twice, whichever process
 *               is killed, at any time. One exception: the sum of a process's calls may count a block twice if the
 *               process that takes over the block is killed between the two stores of step 3
 *            G3 data recorded under a process's name is its own. Of a block that several processes have had, only the
 *               sum of calls is kept by process
 * Progress   P1 no thread waits for a lock
 *
 *   a thread that needs a block                   a process that needs a record, when there are PROCESSES_MAX
 *   1 take a free one of its own process, else    1 take that of the oldest that is gone
 *     a new one, else any that is free or whose   2 for each of its blocks: take it, else give up 1; step 3 of
 *     owner is gone                                 the left side; it is nobody's; give it back
 *   2 if it was another process's:                3 add its calls to those that are forgotten
 *   3 add its calls to those of that process;     4 it is the own
 *     they are credited
 *   4 it is the own
 *
 * While there are few blocks, processes do not share them (blocks.c), so calls are known by process and function.
 */
#include "session/family.h"

#include "os/attributes.h"
#include "os/self.h"
#include "os/sys.h"
#include "session/blocks.h"
#include "session/memory.h"
#include "session/options.h"
#include "session/owner.h"

#include <linux/futex.h>
#include <stddef.h>
#include <unistd.h>

enum { PROCESSES_MAX = 1024 };

struct mdl_process *family_self;

static THREAD_LOCAL uint64_t forks_before; /* the forking thread's fork; its child has that thread */

struct mdl_process *family_newest(void) {
  return (struct mdl_process *)__atomic_load_n(&session->processes, __ATOMIC_ACQUIRE);
}

static bool has_agent(const struct mdl_process *process) { return session->agent_process == (uintptr_t)process; }

static void note_end(struct mdl_process *process) {
  if (__atomic_exchange_n(&process->state, MDL_PROCESS_ENDED, __ATOMIC_ACQ_REL) != MDL_PROCESS_ENDED) {
    __atomic_store_n(&process->ended_nanos, clock_nanos(CLOCK_REALTIME), __ATOMIC_RELAXED);
    struct mdl_header *header = session; /* an agent that begins its own session clears it */
    if (header && header->agent_process != (uintptr_t)process) {
      __atomic_fetch_sub(&header->children, 1, __ATOMIC_RELAXED);
    }
  }
}

/* A process without a leader has no owner, and is known to have ended only by its own notice. */
bool process_has_ended(const struct mdl_process *process) {
  uint32_t state = __atomic_load_n(&process->state, __ATOMIC_ACQUIRE);
  return state == MDL_PROCESS_ENDED || (state == MDL_PROCESS_LIVE && owner_is_gone(process->owner));
}

/* The oldest ended process that started after *started; sets *started to its start. */
static struct mdl_process *oldest_ended(uint64_t *started) {
  struct mdl_process *oldest = NULL;
  uint64_t least = ~0ULL;
  for (struct mdl_process *at = family_newest(); at; at = family_before(at)) {
    uint64_t start = __atomic_load_n(&at->started_nanos, __ATOMIC_ACQUIRE);
    if (start > *started && start < least && !has_agent(at) && process_has_ended(at)) {
      oldest = at;
      least = start;
    }
  }
  *started = least;
  return oldest;
}

static struct mdl_process *recycle(void) {
  struct mdl_process *process;
  for (uint64_t started = 0; (process = oldest_ended(&started)) != NULL;) {
    if (!owner_take(process->owner)) {
      continue;
    }
    /* Another process may have taken it meanwhile. */
    if (process->started_nanos != started || !blocks_disown(process)) {
      owner_release(process->owner);
      continue;
    }
    note_end(process);
    __atomic_fetch_add(&session->processes_forgotten, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&session->calls_forgotten, process->calls, __ATOMIC_RELAXED);
    return process;
  }
  return NULL;
}

static struct mdl_process *create(void) {
  if (__atomic_fetch_add(&session->process_count, 1, __ATOMIC_RELAXED) < PROCESSES_MAX) {
    struct mdl_process *process = (struct mdl_process *)session_allocate(sizeof *process);
    if (process) {
      owner_create(process->owner);
      owner_take(process->owner);
      process->next = __atomic_load_n(&session->processes, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(&session->processes, &process->next, (uintptr_t)process, true,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      }
      return process;
    }
  }
  __atomic_fetch_sub(&session->process_count, 1, __ATOMIC_RELAXED);
  return NULL;
}

static struct mdl_process *enter(uint32_t parent, uint32_t flags) {
  struct mdl_process *process = create();
  if (!process) {
    process = recycle();
  }
  if (!process) {
    __atomic_fetch_add(&session->processes_refused, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  __atomic_store_n(&process->started_nanos, 0, __ATOMIC_RELEASE);
  process->ended_nanos = 0;
  process->calls = 0;
  process->cpu_nanos = 0;
  process->cpu_rate = 0;
  process->last_cpu_nanos = 0;
  process->cpu_read = 0;
  process->cpu_changed = 0;
  process->apart = 0;
  process->forks = forks_before;
  process->pid = (uint32_t)process_pid;
  process->parent = parent;
  process->exit_status = -1;
  process->flags = flags;
  __atomic_store_n(&process->state, MDL_PROCESS_LIVE, __ATOMIC_RELEASE);
  __atomic_store_n(&process->started_nanos, clock_nanos(CLOCK_REALTIME), __ATOMIC_RELEASE);
  return process;
}

void family_begin(void) {
  forks_before = 0;
  family_self = enter((uint32_t)getppid(), 0);
  session->agent_process = (uintptr_t)family_self;
}

bool family_has_agent(void) {
  const struct mdl_header *header = session;
  const struct mdl_process *self = family_self;
  return header && (self ? header->agent_process == (uintptr_t)self : header->pid == options_readers_pid(process_pid));
}

bool family_has_children(void) {
  family_sweep();
  return __atomic_load_n(&session->children, __ATOMIC_RELAXED) != 0;
}

bool family_agent_is_gone(void) {
  const struct mdl_process *agents = (const struct mdl_process *)session->agent_process;
  return agents && agents != family_self && process_has_ended(agents);
}

void family_forks(void) { forks_before = __atomic_fetch_add(&session->forks, 1, __ATOMIC_SEQ_CST); }

void family_forked(pid_t parent) {
  uint32_t flags = family_self ? family_self->flags & ~(uint32_t)MDL_EXECUTED : 0;
  if (getppid() == 0) { /* its parent has no id here */
    flags |= MDL_ELSEWHERE;
  }
  __atomic_fetch_add(&session->children, 1, __ATOMIC_RELAXED);
  family_self = enter((uint32_t)parent, flags);
}

void family_joined(pid_t parent, uint64_t started_nanos) {
  forks_before = 0;
  family_forked(parent);
  if (family_self) {
    __atomic_store_n(&family_self->started_nanos, started_nanos, __ATOMIC_RELEASE);
    __atomic_store_n(&family_self->state, MDL_PROCESS_LEADERLESS, __ATOMIC_RELEASE);
    owner_release(family_self->owner);
  }
}

void family_lead(void) {
  uint32_t leaderless = MDL_PROCESS_LEADERLESS;
  if (family_self && family_self->state == MDL_PROCESS_LEADERLESS && gettid() == process_pid &&
      owner_take(family_self->owner)) {
    __atomic_compare_exchange_n(&family_self->state, &leaderless, MDL_PROCESS_LIVE, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
  }
}

void family_leader_ends(void) {
  if (family_self && owner_is_self(family_self->owner)) {
    uint32_t live = MDL_PROCESS_LIVE;
    __atomic_compare_exchange_n(&family_self->state, &live, MDL_PROCESS_LEADERLESS, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
  }
}

void family_leave(int status) {
  struct mdl_process *self = family_self;
  if (self) {
    self->exit_status = status & 0xff;
    self->last_cpu_nanos = clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    note_end(self);
  }
}

void family_begins_anew(void) {
  struct mdl_process *self = family_self;
  if (self) {
    __atomic_fetch_or(&self->flags, MDL_OWN_SESSION, __ATOMIC_RELAXED);
    note_end(self);
    family_self = NULL;
  }
}

void family_executes(bool does) {
  struct mdl_process *self = family_self;
  if (self && does) {
    __atomic_fetch_or(&self->flags, MDL_EXECUTED, __ATOMIC_RELAXED);
  } else if (self) {
    __atomic_fetch_and(&self->flags, ~(uint32_t)MDL_EXECUTED, __ATOMIC_RELAXED);
  }
}

/* Does what the kernel does to a robust lock of a dead owner. The locks stay in lists of threads, which now lead to this
 * process's private copy. */
static void give_up(uint64_t *owner, int64_t shared) {
  if (*(uint32_t *)owner != 0) {
    __atomic_store_n((uint32_t *)((char *)owner + shared), FUTEX_OWNER_DIED, __ATOMIC_RELEASE);
  }
}

/* A page of a private mapping shows other processes' writes until this process writes to it. Others may reuse the records
 * that this process gives up, and store addresses of their own memory there. So this process first makes its pages private
 * by writing to them. */
static void keep_own(void *record, uint64_t bytes) {
  enum { PAGE = 4096 };
  uint64_t first = (uintptr_t)record & ~(uint64_t)(PAGE - 1);
  for (uint64_t page = first; page < (uintptr_t)record + bytes; page += PAGE) {
    __asm__ volatile("lock orb $0, %0" : "+m"(*(char *)page)); /* an atomic store that changes nothing */
  }
}

void family_goes_apart(int64_t shared, bool counted) {
  struct mdl_header *header = (struct mdl_header *)((char *)session + shared);
  if (!family_has_agent() && !counted) {
    __atomic_fetch_add(&header->processes_apart, 1, __ATOMIC_RELAXED);
  }
  keep_own(session, sizeof *session); /* first: then lists that begin there lead only to copied entries */
  if (!family_self) {
    return;
  }
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    if (thread->process == (uintptr_t)family_self) {
      keep_own(thread, sizeof *thread);
      if (!thread->apart) {
        give_up(thread->owner, shared);
      }
    }
  }
  keep_own(family_self, sizeof *family_self);
  struct mdl_process *process = (struct mdl_process *)((char *)family_self + shared);
  process->flags |= MDL_APART;
  if (counted) {
    return;
  }
  if (!has_agent(family_self) && __atomic_exchange_n(&process->state, MDL_PROCESS_ENDED, __ATOMIC_ACQ_REL) !=
                                     MDL_PROCESS_ENDED) {
    __atomic_store_n(&process->ended_nanos, clock_nanos(CLOCK_REALTIME), __ATOMIC_RELAXED);
    __atomic_fetch_sub(&header->children, 1, __ATOMIC_RELAXED);
  }
  give_up(family_self->owner, shared);
}

void family_is_gone(struct mdl_process *process) {
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    if (thread->process == (uintptr_t)process && thread->apart) {
      thread->apart = 0;
      give_up(thread->owner, 0);
    }
  }
  __atomic_store_n(&process->apart, 0, __ATOMIC_RELEASE);
  give_up(process->owner, 0);
  family_sweep();
}

/*
 * The kernel knows another process's CPU time only as of its last scheduler tick, several milliseconds ago. In between
 * it is extrapolated at the recent rate.
 */
static uint64_t cpu_of(struct mdl_process *process, uint64_t now) {
  enum { STOPPED_NANOS = 20000000, THOUSANDTHS_MAX = 1000000 };
  if (process->last_cpu_nanos || process->state == MDL_PROCESS_ENDED) {
    return process->last_cpu_nanos;
  }
  uint64_t read = clock_nanos(process_cpu_clock((pid_t)process->pid));
  uint64_t since = now - process->cpu_changed;
  if (read != process->cpu_read) {
    bool first_time = process->cpu_changed == 0;
    uint64_t rate = first_time || read < process->cpu_read ? 0 : (read - process->cpu_read) * 1000 / (since + 1);
    process->cpu_rate = rate < THOUSANDTHS_MAX ? (uint32_t)rate : THOUSANDTHS_MAX;
    process->cpu_read = read;
    process->cpu_changed = now;
    return read;
  }
  return since < STOPPED_NANOS ? read + since * process->cpu_rate / 1000 : read;
}

uint64_t family_cpu_nanos(void) {
  static uint64_t total; /* only the agent's thread gets here */
  uint64_t now = clock_nanos(CLOCK_MONOTONIC);
  for (struct mdl_process *at = family_newest(); at; at = family_before(at)) {
    if (at != family_self && at->started_nanos && !(at->flags & MDL_ELSEWHERE)) {
      uint64_t nanos = cpu_of(at, now);
      if (nanos > at->cpu_nanos) {
        total += nanos - at->cpu_nanos;
        at->cpu_nanos = nanos;
      }
    }
  }
  return total;
}

void family_sweep(void) {
  for (struct mdl_process *at = family_newest(); at; at = family_before(at)) {
    if (at->started_nanos && at->state != MDL_PROCESS_ENDED && process_has_ended(at) && owner_take(at->owner)) {
      if (at->state == MDL_PROCESS_LIVE) {
        note_end(at);
      }
      owner_release(at->owner);
    }
  }
}

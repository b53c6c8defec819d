/*
 * Callbacks at probes: fastinst.h, and the same for Java.
 *
 * A client is one word of a site's record. The site's stub leads to a body that calls it (struct mdl_bodies), so one data
 * store replaces one client by another.
 *
 * Assumes    A1 a body may be entered after its stub was redirected: so each body checks for the client, and for the
 *               recorder's wish, when it gets there
 *            A2 membarrier is a fence in every running thread of the process (membarrier(2))
 * Guarantees G1 a probe has at most one client, the last one attached: of two threads, by the last to get the lock
 *            G2 a thread in a client's function enters no other
 *            G3 whether a site is on: G1 of code.c
 *            G4 when synchronize returns, no thread is in, or can enter, a client that was removed before
 *            G5 a site with a client or snippets does not lead to its counter
 * Progress   P1 threads at probes neither wait nor lock. Threads that attach wait for each other
 *
 *   attach, with the lock                         a thread at the probe
 *                                                 0 entered
 *   1 client = function, or 0                     1 in_client: the next odd
 *   2 the stub leads to the body for it           2 read client; call it
 *   3 the site is on if wanted (code.c)           3 in_client: the next even; not entered
 *
 *   synchronize
 *   4 membarrier
 *   5 wait for each thread that is odd until it has changed
 *
 * G2: by step 0, one store. A handler may leave an interrupted client by siglongjmp; a later call that does not lie below it
 * on the thread's own stack shows that the client has ended.
 *
 * G4: by A2, a thread has either done its step 1 visibly before 4, and 5 waits for it, or it reads the client after 4, and
 * sees the store of attach's step 1.
 */
#include "record/client.h"

#include "code/code.h"
#include "code/entry_jumps.h"
#include "os/sys.h"
#include "record/frames.h"
#include "record/interruptible.h"
#include "record/stub.h"
#include "record/thread.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/life.h"
#include "session/memory.h"
#include "session/waiters.h"

#include <errno.h>
#include <fastinst.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static THREAD_LOCAL volatile bool is_changing; /* a handler on this thread must not wait for the lock */
static THREAD_LOCAL volatile uint64_t entered; /* the key of the call whose client is running; or 0 */

/* in_client is odd inside a client and even outside; NO_CLIENTS is a special value. */
#define IN_CLIENT_MASK 0x7fffffffu

/* ---- at a probe */

/* Whether the thread is in a client that it has not left by a jump. */
static bool is_in_client(struct mdl_thread *thread, uint64_t key) {
  uint64_t of = entered;
  return of && ((key < of && frames_is_own_stack(thread, of)) || !record_shows_gone(thread, key));
}

void client_call(const struct mdl_site *site, uint64_t function, uint64_t key) {
  int error = errno;
  struct mdl_thread *thread = record_thread();
  if (!thread || thread->in_client == NO_CLIENTS || is_in_client(thread, key)) {
    if (thread) {
      thread->skipped++;
    }
    errno = error;
    return;
  }
  entered = key;
  ordered();
  uint32_t turn = (thread->in_client + 1) | 1;
  __atomic_store_n(&thread->in_client, turn & IN_CLIENT_MASK, __ATOMIC_RELAXED);
  ordered();
  fastinst_function client = (fastinst_function)__atomic_load_n(&site->client, __ATOMIC_RELAXED);
  if (client) {
    client(site->index, (void *)function);
  }
  ordered();
  if (mdl_self == thread) { /* false in a child forked by the client */
    __atomic_store_n(&thread->in_client, (turn + 1) & IN_CLIENT_MASK, __ATOMIC_RELAXED);
  }
  ordered();
  entered = 0;
  errno = error;
}

/* Cases that generated code does not count: a thread's first call, and returns of whole functions. */
void client_count(uint32_t probe, void *function) {
  (void)function;
  struct mdl_thread *thread = record_known_thread();
  uint64_t counts = session_allocate_once(&thread->counts, session->site_capacity * sizeof(uint64_t));
  if (counts) {
    __asm__ volatile("incq %0" : "+m"(((uint64_t *)counts)[probe]) : : "cc");
  }
}

/* ---- the probes */

static bool is_available(void) {
  return session && __atomic_load_n(&session->site_count, __ATOMIC_ACQUIRE) != 0 && family_has_agent() &&
         !agent_is_dead();
}

static uint32_t probe_count(void) { return session ? __atomic_load_n(&session->site_count, __ATOMIC_ACQUIRE) : 0; }

static struct mdl_site *site_of(uint32_t probe) {
  if (probe >= probe_count()) {
    return NULL;
  }
  struct mdl_site *site = (struct mdl_site *)session->sites + probe;
  return site->bodies ? site : NULL;
}

/* The code at a return is that of the whole function. */
static struct mdl_site *switch_of(struct mdl_site *site) { return site->kind == MDL_RETURN ? site - 1 : site; }

static bool is_counter(uint64_t client) { return client == (uintptr_t)client_count; }

/* A client at a return needs the whole function's client body, which makes a frame for it. The snippet body makes one too,
 * and checks for clients. */
static uint64_t body_of(const struct mdl_site *site, const struct mdl_bodies *bodies) {
  if (code_has_snippets(site) || (site->kind == MDL_WHOLE && code_has_snippets(site + 1))) {
    return bodies->snippets;
  }
  if (site->kind == MDL_WHOLE && site[1].client) {
    return bodies->client;
  }
  if (!site->client) {
    /* If recording is off, a late thread must not record. */
    bool is_imported = ((const struct mdl_function *)site->function)->flags & MDL_IMPORTED;
    return session->flags & MDL_UNPROFILED || is_imported ? bodies->client : bodies->record;
  }
  return is_counter(site->client) ? bodies->count : bodies->client;
}

static void retarget(const struct mdl_site *site) {
  const struct mdl_bodies *bodies = (const struct mdl_bodies *)((const char *)session + site->bodies);
  uint64_t displacement = site->stub + bodies->displacement;
  code_store(displacement + (uint64_t)bodies->alias, body_of(site, bodies) - (displacement + sizeof(uint32_t)),
             sizeof(uint32_t));
}

static void lead_to_counter(const struct mdl_site *site, bool counting) {
  const struct mdl_bodies *bodies = (const struct mdl_bodies *)((const char *)session + site->bodies);
  if (site->kind == MDL_WHOLE && site->bodies && bodies->counter) {
    code_store(site->stub + (uint64_t)bodies->alias, counting ? bodies->counter : STUB_HEAD, sizeof(uint64_t));
  }
}

/* Under the lock: otherwise a site that gets a client meanwhile would still lead to its counter. */
void client_lead_to_counters(struct mdl_function *function, bool counting) {
  const struct mdl_site *sites = (const struct mdl_site *)session->sites;
  const uint32_t *entries = (const uint32_t *)function->site_list + function->exit_sites;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < function->entry_sites; i++) {
    const struct mdl_site *site = &sites[entries[i]];
    lead_to_counter(site, counting && !code_is_used(site));
  }
  pthread_mutex_unlock(&lock);
  function->counting = counting;
}

/* Steps 2 and 3, without the confirmation. */
static void redirect(struct mdl_site *site) {
  retarget(site);
  lead_to_counter(switch_of(site), false);
  if (switch_of(site) != site) {
    retarget(switch_of(site));
  }
  code_follow(switch_of(site));
}

/* Steps 1 to 3; the confirmation follows for all sites together. */
static void change(struct mdl_site *site, uint64_t client) {
  uint64_t before = site->client;
  __atomic_store_n(&site->client, client, __ATOMIC_RELEASE);
  if (before && client && is_counter(before) == is_counter(client)) {
    return;
  }
  redirect(site);
}

/* Under the lock, so that no client is removed meanwhile. */
static bool are_probes(const uint32_t *probes, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    if (!site_of(probes[i])) {
      return false;
    }
  }
  return true;
}

static int attach(const uint32_t *probes, uint64_t n, uint64_t client) {
  if (!is_available()) {
    return FASTINST_UNAVAILABLE;
  }
  if (is_changing) {
    return FASTINST_BUSY;
  }
  is_changing = true;
  pthread_mutex_lock(&lock);
  if (!are_probes(probes, n)) {
    pthread_mutex_unlock(&lock);
    is_changing = false;
    return FASTINST_NO_PROBE;
  }
  for (uint64_t i = 0; i < n; i++) {
    change(site_of(probes[i]), client);
  }
  code_fence();
  struct jumps_batch jumps = {0};
  for (uint64_t i = 0; i < n; i++) {
    const struct mdl_site *site = switch_of(site_of(probes[i]));
    code_confirm(site);
    jumps_add(&jumps, site);
  }
  jumps_end(&jumps);
  pthread_mutex_unlock(&lock);
  is_changing = false;
  __atomic_fetch_add(&session->toggles, n, __ATOMIC_RELAXED);
  if (agent_is_dead()) {
    code_switch_all_off(); /* the agent died meanwhile: its loop may have run before these stores */
    return FASTINST_UNAVAILABLE;
  }
  return FASTINST_OK;
}

/* Store the word first: a thread in the snippet body runs either the old or the new snippets. */
static void change_snippets(struct mdl_site *site, uint64_t code) {
  const struct mdl_bodies *bodies = (const struct mdl_bodies *)((const char *)session + site->bodies);
  __atomic_store_n(&site->snippets, code ? code : bodies->resume, __ATOMIC_RELEASE);
  if (code_has_snippets(site) == (code != 0)) {
    return;
  }
  __atomic_fetch_xor(&site->flags, MDL_SNIPPETS, __ATOMIC_RELAXED);
  redirect(site);
  code_fence();
  code_confirm(switch_of(site));
  struct jumps_batch jumps = {0};
  jumps_add(&jumps, switch_of(site));
  jumps_end(&jumps);
  __atomic_fetch_add(&session->toggles, 1, __ATOMIC_RELAXED);
}

int64_t client_snippets(uint32_t probe, uint64_t code) {
  if (!is_available()) {
    return FASTINST_UNAVAILABLE;
  }
  pthread_mutex_lock(&lock);
  struct mdl_site *site = site_of(probe);
  if (site) {
    change_snippets(site, code);
  }
  pthread_mutex_unlock(&lock);
  if (agent_is_dead()) {
    code_switch_all_off(); /* the agent died meanwhile: its loop may have run before these stores */
    return FASTINST_UNAVAILABLE;
  }
  return site ? FASTINST_OK : FASTINST_NO_PROBE;
}

int64_t client_attach(const uint32_t *probes, int64_t n, uint64_t function) {
  return attach(probes, (uint64_t)n, function);
}

void client_forget(const uint32_t *probes, int64_t n) {
  struct mdl_site *sites = (struct mdl_site *)session->sites;
  pthread_mutex_lock(&lock);
  for (int64_t i = 0; i < n; i++) {
    __atomic_store_n(&sites[probes[i]].client, 0, __ATOMIC_RELEASE);
    __atomic_fetch_and(&sites[probes[i]].flags, (uint8_t)~MDL_SNIPPETS, __ATOMIC_RELEASE);
    __atomic_store_n(&sites[probes[i]].bodies, 0, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

static int activate(const fastinst_probe *probes, size_t n, fastinst_function function) {
  if (!function) {
    return FASTINST_NO_FUNCTION;
  }
  return attach(probes, n, (uintptr_t)(function == FASTINST_COUNT ? client_count : function));
}

static int deactivate(const fastinst_probe *probes, size_t n) { return attach(probes, n, 0); }

static const char *text(uint32_t at) {
  return at ? ((const struct mdl_string *)((const char *)session + at))->bytes : NULL;
}

static int describe(fastinst_probe probe, struct fastinst_metadata *metadata) {
  if (!is_available()) {
    return FASTINST_UNAVAILABLE;
  }
  const struct mdl_site *site = site_of(probe);
  if (!site) {
    return FASTINST_NO_PROBE;
  }
  const struct mdl_function *function =
      (const struct mdl_function *)__atomic_load_n(&site->function, __ATOMIC_ACQUIRE);
  uint32_t file = __atomic_load_n(&function->file, __ATOMIC_ACQUIRE); /* published after the line */
  bool is_exit = site->kind == MDL_EXIT || site->kind == MDL_SIBLING_EXIT || site->kind == MDL_RETURN;
  *metadata = (struct fastinst_metadata){
      .probe = probe,
      .kind = is_exit ? FASTINST_EXIT : FASTINST_ENTRY,
      .function = (void *)function->address,
      .address = (void *)site->address,
      .name = text(function->name),
      .symbol = text(function->symbol),
      .image = text(site->image),
      .file = text(file),
      .line = file ? function->line : 0,
  };
  return FASTINST_OK;
}

static uint32_t discover(uint32_t first, fastinst_discovered callback, void *argument) {
  uint32_t count = probe_count();
  for (; first < count; first++) {
    struct fastinst_metadata metadata;
    if (describe(first, &metadata) == FASTINST_OK) {
      callback(&metadata, argument);
    }
  }
  return first;
}

static int calls(fastinst_probe probe, uint64_t *out) {
  if (!is_available()) {
    return FASTINST_UNAVAILABLE;
  }
  if (!site_of(probe)) {
    return FASTINST_NO_PROBE;
  }
  uint64_t sum = 0;
  for (const struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    const uint64_t *counts = (const uint64_t *)__atomic_load_n(&thread->counts, __ATOMIC_ACQUIRE);
    sum += counts ? __atomic_load_n(&counts[probe], __ATOMIC_RELAXED) : 0;
  }
  *out = sum;
  return FASTINST_OK;
}

static int skipped(uint64_t *out) {
  if (!is_available()) {
    return FASTINST_UNAVAILABLE;
  }
  uint64_t sum = 0;
  for (const struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    sum += __atomic_load_n(&thread->skipped, __ATOMIC_RELAXED);
  }
  *out = sum;
  return FASTINST_OK;
}

/* ---- waiting */

static uint64_t deadline_after(int millis) {
  return clock_nanos(CLOCK_MONOTONIC) + (millis > 0 ? (uint64_t)millis * 1000000u : 0);
}

static int wait_for_probes(uint32_t known, int timeout_millis) {
  uint64_t deadline = deadline_after(timeout_millis);
  for (;;) {
    uint32_t seen = waiters_changes();
    if (agent_is_dead() || (session && !family_has_agent())) {
      return FASTINST_UNAVAILABLE;
    }
    if (probe_count() > known && __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) != MDL_STARTING) {
      return FASTINST_OK;
    }
    uint64_t now = clock_nanos(CLOCK_MONOTONIC);
    if (now >= deadline) {
      return FASTINST_TIMEOUT;
    }
    waiters_await_change(seen, deadline - now);
  }
}

static bool is_still_in(const struct mdl_thread *thread, uint32_t turn) {
  return thread != mdl_self && __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MDL_THREAD_LIVE &&
         __atomic_load_n(&thread->in_client, __ATOMIC_ACQUIRE) == turn;
}

static int synchronize(int timeout_millis) {
  static const struct timespec pause = {.tv_nsec = 50000};
  uint64_t deadline = deadline_after(timeout_millis);
  if (!is_available() || code_sync_cores() < 0) {
    return FASTINST_UNAVAILABLE;
  }
  for (const struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    uint32_t turn = __atomic_load_n(&thread->in_client, __ATOMIC_ACQUIRE);
    while ((turn & 1) && turn != NO_CLIENTS && is_still_in(thread, turn)) {
      if (clock_nanos(CLOCK_MONOTONIC) >= deadline) {
        return FASTINST_TIMEOUT;
      }
      nanosleep(&pause, NULL);
    }
  }
  return FASTINST_OK;
}

EXPORT const struct fastinst_interface *fastinst_interface_1(void);

EXPORT const struct fastinst_interface *fastinst_interface_1(void) {
  static const struct fastinst_interface interface = {
      .wait = wait_for_probes,
      .discover = discover,
      .describe = describe,
      .activate = activate,
      .deactivate = deactivate,
      .calls = calls,
      .skipped = skipped,
      .synchronize = synchronize,
  };
  return &interface;
}

/*
 * Installs and removes the jumps at entries that an atomic unit splits: the protocol of WordPatch.java for one pair of words, which
 * PunView.java proves. Each jump leads to a gate, which one store switches (code.c). Threads that cannot wait switch the gate only.
 *
 * Assumes    A1 a store inside one atomic unit is fetched wholly or not at all; units are multiples of eight bytes
 *            A2 after synchronize() every thread that executes the text fetches what was stored before it. T_max: empirical, in
 *               all processes. membarrier: architectural, in this process
 *            A3 the trap table has a row for the entry and for each instruction that the jump covers: it leads to the copy of
 *               that instruction. The rows are published before the first step and stay
 *            A4 threads that execute the site have not blocked SIGTRAP or SIGILL (process/masks.c)
 *            A5 nobody else stores to the five bytes; the bytes of the jump over the first byte of an instruction trap
 * Guarantees G1 a thread at the entry executes the function's own instructions, their copy, or the jump, wholly; one at another of the
 *               covered instructions executes that, or its copy
 *            G2 that is true however long one who changes jumps stops between two steps
 *            G3 when jumps_end() returns, each site that was wanted when it was added has its jump, if steps are possible
 *            G4 without T_max no step is taken in a process that has forked; all jumps are installed before the first fork
 * Progress   P1 threads at sites never wait: they trap, and go on in the copy
 *            P2 two waits for a batch, whatever the number of its sites; none where no byte behind the boundary changes
 *            P3 batches wait for each other; without T_max a fork waits for them
 *
 *   | step | a jump comes                                      | a jump goes                       |
 *   | 1    | int3 over the head of the instruction that lies   | int3 over the jump's first byte   |
 *   |      | on both sides of the boundary, if there is one    |                                   |
 *   | 2    | synchronize                                       |                                   |
 *   | 3    | store the bytes behind the boundary               |                                   |
 *   | 4    | synchronize                                       |                                   |
 *   | 5    | store those in front of it, by one store          |                                   |
 *
 * G1: from 2 to 5 no thread fetches an instruction that lies on both sides of the boundary: int3 stands in its place. An
 * instruction that begins behind the boundary is one of the function, or a byte of the jump that traps. After 4 every thread
 * fetches the new bytes behind the boundary, so the new front never meets the old rest.
 */
#include "code/entry_jumps.h"

#include "code/code.h"
#include "os/signal_block.h"
#include "os/sys.h"
#include "session/family.h"
#include "session/log.h"
#include "session/memory.h"

#include <pthread.h>
#include <time.h>
#include <x86intrin.h>

enum { INT3 = 0xCC, JUMP_BYTES = 5, WORD_BYTES = 8, BYTE_BITS = 8 };

/* Without T_max: minimum wait, for processors that membarrier does not reach (children forked by raw system calls). */
enum { UNREACHED_TICKS = 50000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_forked; /* with the lock */
static bool has_complained;

static struct mdl_jump *jump_of(const struct mdl_site *site) {
  return __atomic_load_n(&site->flags, __ATOMIC_RELAXED) & MDL_STEPS ? (struct mdl_jump *)site->owner : NULL;
}

static bool can_step(void) {
  return session->sync == MDL_SYNC_TMAX || (session->sync == MDL_SYNC_MEMBARRIER && !has_forked);
}

static void synchronize(void) {
  code_fence();
  uint64_t wait = session->tmax;
  if (session->sync != MDL_SYNC_TMAX) {
    code_sync_cores();
    wait = UNREACHED_TICKS;
  }
  if (!tsc_is_forbidden_to_thread()) {
    code_wait_until(__rdtsc() + wait);
  } else {
    /* One nanosecond per tick is enough: time-stamp counters run at more than 1 GHz. */
    struct timespec pause = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
    nanosleep(&pause, NULL);
  }
}

static uint64_t low_bytes(unsigned n) { return (1ULL << n * BYTE_BITS) - 1; }

static uint64_t bytes_of(const struct mdl_jump *jump) { return jump->shown ? jump->off : jump->on; }

static void store_front(const struct mdl_jump *jump) {
  unsigned shift = (unsigned)(WORD_BYTES - jump->front) * BYTE_BITS;
  uint64_t mask = low_bytes(jump->front);
  code_replace(jump->at + jump->front - WORD_BYTES, mask << shift, (bytes_of(jump) & mask) << shift);
}

static void store_rest(const struct mdl_jump *jump) {
  code_replace(jump->at + jump->front, low_bytes(JUMP_BYTES - jump->front),
               (bytes_of(jump) >> jump->front * BYTE_BITS) & low_bytes(JUMP_BYTES - jump->front));
}

static void begin(struct jumps_batch *batch) {
  batch->begun = true;
  batch->signals = signals_block_word();
  pthread_mutex_lock(&lock);
}

static void end(struct jumps_batch *batch) {
  pthread_mutex_unlock(&lock);
  signals_restore_word(batch->signals);
}

/* Step 1; or the whole change, if no byte behind the boundary changes. Requires the lock. */
static void change(struct jumps_batch *batch, struct mdl_jump *jump) {
  if ((jump->on ^ jump->off) >> jump->front * BYTE_BITS == 0) {
    store_front(jump);
    jump->shown = !jump->shown;
    return;
  }
  if (jump->shown || jump->head != MDL_NO_HEAD) {
    code_store(jump->at + (jump->shown ? 0 : jump->head), INT3, 1);
  }
  jump->changes = 1;
  jump->next = (uintptr_t)batch->first;
  batch->first = jump;
}

/* The site's jump, with the lock held; NULL if it has none or this process has its text for itself. */
static struct mdl_jump *locked(struct jumps_batch *batch, const struct mdl_site *site) {
  struct mdl_jump *jump = code_is_foreign() ? NULL : jump_of(site);
  if (jump && !batch->begun) {
    begin(batch);
  }
  return jump;
}

/* Called by the agent only. While a jump is held, no other caller removes it. */
void jumps_hold(struct jumps_batch *batch, const struct mdl_site *site, bool held) {
  struct mdl_jump *jump = jump_of(site);
  if (jump && held && jump->held && jump->shown) {
    return; /* the usual case: every slice after the first */
  }
  jump = locked(batch, site);
  if (jump) {
    jump->held = held;
    jumps_add(batch, site);
  }
}

void jumps_add(struct jumps_batch *batch, const struct mdl_site *site) {
  struct mdl_jump *jump = locked(batch, site);
  if (!jump) {
    return;
  }
  bool wanted = jump->held || code_is_recording(site) || code_is_used(site);
  if (wanted == jump->shown || jump->changes) {
    return;
  }
  if (can_step()) {
    change(batch, jump);
  } else if (wanted && !has_complained) {
    has_complained = true;
    log_line("some entries get no jump: an atomic unit splits them, the process has forked, and T_max is not known", NULL);
  }
}

static void finish(struct jumps_batch *batch) {
  if (!batch->first) {
    return;
  }
  synchronize();
  for (struct mdl_jump *jump = batch->first; jump; jump = (struct mdl_jump *)jump->next) {
    store_rest(jump);
  }
  synchronize();
  for (struct mdl_jump *jump = batch->first; jump; jump = (struct mdl_jump *)jump->next) {
    store_front(jump);
    jump->shown = !jump->shown;
    jump->changes = 0;
  }
  batch->first = NULL;
}

void jumps_end(struct jumps_batch *batch) {
  if (batch->begun) {
    finish(batch);
    end(batch);
    *batch = (struct jumps_batch){0};
  }
}

/* ---- forks */

/* Without T_max: membarrier will not reach the child, so all jumps are installed before the fork. */
void jumps_before_fork(void) {
  if (!session || !family_has_agent() || code_is_foreign() || session->sync != MDL_SYNC_MEMBARRIER) {
    return;
  }
  struct jumps_batch batch = {0};
  begin(&batch);
  if (!has_forked) {
    uint32_t count = __atomic_load_n(&session->site_count, __ATOMIC_ACQUIRE);
    const struct mdl_site *sites = (const struct mdl_site *)session->sites;
    for (uint32_t i = 0; i < count; i++) {
      struct mdl_jump *jump = jump_of(&sites[i]);
      if (jump && !jump->shown) {
        change(&batch, jump);
      }
    }
    finish(&batch);
    has_forked = true;
  }
  end(&batch);
}

/* The child changes none. */
void jumps_forked(void) { lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

#include "session/memory.h"

#include "os/own_memory.h"
#include "os/self.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, STEP = SESSION_STEP };

struct mdl_header *session;

/* Set once the file's memory has run out, so that later calls without a row make no system call. */
static _Atomic bool exhausted;

/* Arena of a process that has gone apart; parts of the session's memory may belong to other processes by now. */
static struct {
  _Atomic uint64_t next;
  uint64_t end;
} own;

static bool populate(uint64_t from, uint64_t to) {
  int error = errno;
  bool done;
  do {
    errno = 0;
    done = madvise((void *)((uintptr_t)session + from), to - from, MADV_POPULATE_WRITE) == 0;
  } while (!done && errno == EINTR);
  errno = error;
  return done;
}

/*
 * Async-signal-safe and lock-free. A thread that needs bytes beyond arena_end populates them before it advances arena_end.
 * So all bytes below arena_end are backed, whichever thread comes first.
 */
static uint64_t allocate(uint64_t bytes) {
  struct mdl_header *header = session;
  uint64_t next = __atomic_load_n(&header->arena_next, __ATOMIC_RELAXED);
  uint64_t end;
  do {
    /* The order of the two tests keeps the rounding from overflowing. */
    if (bytes > header->limit - next || ((bytes + 63) & ~63ULL) > header->limit - next) {
      __atomic_fetch_add(&header->arena_refused, 1, __ATOMIC_RELAXED);
      return 0;
    }
    end = next + ((bytes + 63) & ~63ULL);
  } while (!__atomic_compare_exchange_n(&header->arena_next, &next, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  uint64_t backed = __atomic_load_n(&header->arena_end, __ATOMIC_ACQUIRE);
  if (end > backed) {
    uint64_t target = (end + STEP - 1) & ~(uint64_t)(STEP - 1);
    if (target > header->limit) {
      target = header->limit;
    }
    if (atomic_load_explicit(&exhausted, memory_order_relaxed) || !populate(backed, target)) {
      atomic_store_explicit(&exhausted, true, memory_order_relaxed);
      __atomic_fetch_add(&header->arena_refused, 1, __ATOMIC_RELAXED);
      return 0;
    }
    while (backed < target && !__atomic_compare_exchange_n(&header->arena_end, &backed, target, true,
                                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
  }
  return (uintptr_t)header + next;
}

static uint64_t allocate_own(uint64_t bytes) {
  uint64_t next = atomic_load(&own.next);
  do {
    if (bytes > own.end - next || ((bytes + 63) & ~63ULL) > own.end - next) {
      __atomic_fetch_add(&session->arena_refused, 1, __ATOMIC_RELAXED);
      return 0;
    }
  } while (!atomic_compare_exchange_weak(&own.next, &next, next + ((bytes + 63) & ~63ULL)));
  return next;
}

uint64_t session_allocate(uint64_t bytes) {
  return !session || bytes == 0 ? 0 : own.end || process_is_confined ? allocate_own(bytes) : allocate(bytes);
}

uint64_t session_allocate_once(uint64_t *slot, uint64_t bytes) {
  uint64_t at = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!at) {
    uint64_t fresh = session_allocate(bytes);
    if (!fresh || __atomic_compare_exchange_n(slot, &at, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      return fresh;
    }
  }
  return at;
}

bool session_can_grow(void) {
  void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  bool can = madvise(page, PAGE, MADV_POPULATE_WRITE) == 0;
  munmap(page, PAGE);
  return can;
}

static uint64_t let_go_bytes;

static void *map_own(uint64_t bytes, int flags, int file) {
  void *memory = own_memory_map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | flags, file, 0, INHERITED);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Atomically replaced: this process's threads are using the session. */
static bool put(void *memory, struct mdl_header *header, uint64_t limit) {
  own_memory_forget((uintptr_t)memory, (uintptr_t)memory + limit);
  return mremap(memory, limit, limit, MREMAP_MAYMOVE | MREMAP_FIXED, header) != MAP_FAILED;
}

/* Replaces shared pages by a copy. */
static bool put_copy(struct mdl_header *header, uint64_t limit) {
  void *copy = map_own(limit, MAP_ANONYMOUS, -1);
  if (!copy) {
    return false;
  }
  memcpy(copy, header, __atomic_load_n(&header->arena_end, __ATOMIC_ACQUIRE));
  return put(copy, header, limit);
}

/* Other processes' writes to pages that this process has not written to stay visible. */
static bool put_file(struct mdl_header *header, uint64_t limit, int file) {
  void *memory = file < 0 ? NULL : map_own(limit, 0, file);
  return memory && put(memory, header, limit);
}

bool session_go_apart(int file, int64_t *shared) {
  enum { OWN_BYTES = 64 << 20 };
  struct mdl_header *header = session;
  uint64_t limit = header->limit, shared_bytes = header->arena_end;
  void *memory = map_own(OWN_BYTES, MAP_ANONYMOUS, -1);
  void *second = !memory ? MAP_FAILED : mremap(header, 0, shared_bytes, MREMAP_MAYMOVE);
  if (second == MAP_FAILED) {
    return false;
  }
  if (!put_file(header, limit, file) && !put_copy(header, limit)) {
    munmap(second, shared_bytes);
    return false;
  }
  let_go_bytes = shared_bytes;
  atomic_store(&own.next, (uintptr_t)memory);
  own.end = (uintptr_t)memory + OWN_BYTES;
  *shared = (int64_t)((uintptr_t)second - (uintptr_t)header);
  return true;
}

void session_let_go(int64_t shared) { munmap((char *)session + shared, let_go_bytes); }

void session_forget(void) {
  session = NULL;
  own.end = 0;
  exhausted = false;
}

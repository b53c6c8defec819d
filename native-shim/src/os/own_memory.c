#include "os/own_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Each thread needs one for its frames. A mapping that finds no free note is locked with the program's memory. */
enum { NOTES = 8192 };

/* Free while `end` is 0. The thread that sets `end` to TAKEN owns the note until it stores the final `end`. */
static struct note {
  _Atomic uint64_t start, end;
  _Atomic int kind;
} notes[NOTES];
enum { TAKEN = 1 };
static _Atomic int used; /* notes from here on have never been used */

static _Atomic bool future_locked;

static bool read_note(int number, struct span *span) {
  span->end = atomic_load_explicit(&notes[number].end, memory_order_acquire);
  span->start = atomic_load_explicit(&notes[number].start, memory_order_relaxed);
  return span->end > TAKEN;
}

/* Part of a mapping that is noted already: reserved memory comes into use. */
static bool is_noted(uint64_t start, uint64_t end) {
  struct span span;
  for (int i = 0; i < atomic_load(&used); i++) {
    if (read_note(i, &span) && start >= span.start && end <= span.end) {
      return true;
    }
  }
  return false;
}

static void take_note(uint64_t start, uint64_t end, enum own_memory_kind kind) {
  for (int i = 0; i < NOTES; i++) {
    uint64_t none = 0;
    if (atomic_load_explicit(&notes[i].end, memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong(&notes[i].end, &none, TAKEN)) {
      atomic_store_explicit(&notes[i].start, start, memory_order_relaxed);
      atomic_store_explicit(&notes[i].kind, (int)kind, memory_order_relaxed);
      atomic_store_explicit(&notes[i].end, end, memory_order_release);
      int known = atomic_load(&used);
      while (known <= i && !atomic_compare_exchange_weak(&used, &known, i + 1)) {
      }
      return;
    }
  }
}

/* A range of memory has one owner, so no other thread changes its note. */
void own_memory_forget(uint64_t start, uint64_t end) {
  struct span span;
  for (int i = 0; i < atomic_load(&used); i++) {
    if (!read_note(i, &span) || end <= span.start || start >= span.end) {
      continue;
    }
    enum own_memory_kind kind = (enum own_memory_kind)atomic_load(&notes[i].kind);
    atomic_store(&notes[i].end, 0);
    if (span.start < start) {
      take_note(span.start, start, kind);
    }
    if (end < span.end) {
      take_note(end, span.end, kind);
    }
  }
}

void own_memory_note(uint64_t start, uint64_t end) { take_note(start, end, STAYS); }

static uint64_t page_end(uint64_t at) { return (at + 4095) & ~4095ULL; }

/*
 * mmap() populates memory that is locked at once, unless it is PROT_NONE. So the memory is mapped PROT_NONE, unlocked, and
 * then given its rights. `future_locked` is read again after mmap(), because it is set before the kernel begins to lock.
 */
void *own_memory_map(void *at, size_t bytes, int protection, int flags, int file, off_t offset, enum own_memory_kind kind) {
  bool apart = atomic_load(&future_locked) && protection != PROT_NONE;
  void *memory = mmap(at, bytes, apart ? PROT_NONE : protection, flags, file, offset);
  if (memory == MAP_FAILED) {
    return memory;
  }
  uint64_t start = (uintptr_t)memory, end = page_end(start + bytes);
  if (!is_noted(start, end)) {
    take_note(start, end, kind);
  }
  if (atomic_load(&future_locked)) {
    munlock(memory, bytes);
  }
  if (apart && mprotect(memory, bytes, protection) != 0) {
    int error = errno;
    own_memory_unmap(memory, bytes);
    errno = error;
    return MAP_FAILED;
  }
  return memory;
}

int own_memory_unmap(void *at, size_t bytes) {
  own_memory_forget((uintptr_t)at, page_end((uintptr_t)at + bytes)); /* before munmap(): afterwards the range may be another
                                                                        owner's */
  return munmap(at, bytes);
}

struct span own_memory_gap(uint64_t start, uint64_t end) {
  struct span span;
  for (bool moved = true; moved && start < end;) {
    moved = false;
    for (int i = 0; i < atomic_load(&used); i++) {
      if (read_note(i, &span) && span.start <= start && start < span.end) {
        start = span.end;
        moved = true;
      }
    }
  }
  for (int i = 0; i < atomic_load(&used); i++) {
    if (read_note(i, &span) && span.start > start && span.start < end) {
      end = span.start;
    }
  }
  return (struct span){start, start < end ? end : start};
}

bool own_memory_has(uint64_t start, uint64_t end) {
  struct span gap = own_memory_gap(start, end);
  return gap.start != start || gap.end != end;
}

void own_memory_discard_jvm(void) {
  struct span span;
  for (int i = 0; i < atomic_load(&used); i++) {
    if (read_note(i, &span) && atomic_load(&notes[i].kind) == OF_JVM) {
      madvise((void *)span.start, span.end - span.start, MADV_DONTNEED);
    }
  }
}

void own_memory_future_locked(bool locked) { atomic_store(&future_locked, locked); }

bool own_memory_is_future_locked(void) { return atomic_load(&future_locked); }

void own_memory_forked(void) {
  atomic_store(&future_locked, false);
  for (int i = 0; i < atomic_load(&used); i++) {
    if (atomic_load(&notes[i].kind) != INHERITED || atomic_load(&notes[i].end) == TAKEN) {
      atomic_store(&notes[i].end, 0);
    }
  }
}

#include "os/arenas.h"

#include "os/attributes.h"
#include "os/maps.h"
#include "os/own_memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENAS = 256 };
static const uint64_t ARENA = 64 << 20; /* glibc's HEAP_MAX_SIZE; arenas of another malloc() are not found */

/* glibc's arenas per processor. */
enum { ARENAS_OF_CPU = 8 };

static _Atomic uint64_t own[ARENAS]; /* start addresses; 0: free */
static THREAD_LOCAL uint64_t of_thread;

/* Start addresses that look like arenas. */
struct starts {
  int count;
  uint64_t at[ARENAS];
};

static bool collect(struct starts *starts) {
  struct maps maps;
  struct mapping mapping;
  starts->count = 0;
  if (!maps_open(&maps)) {
    return false;
  }
  while (maps_next(&maps, &mapping) && starts->count < ARENAS) {
    if (mapping.start % ARENA == 0) {
      starts->at[starts->count++] = mapping.start;
    }
  }
  maps_close(&maps);
  return starts->count < ARENAS;
}

static bool has(const struct starts *starts, uint64_t start) {
  for (int i = 0; i < starts->count; i++) {
    if (starts->at[i] == start) {
      return true;
    }
  }
  return false;
}

/* The program may have changed it by its environment. */
static bool makes_usual_number(void) {
  for (char **at = environ; at && *at; at++) {
    if (strncmp(*at, "MALLOC_ARENA_", 13) == 0 || strncmp(*at, "GLIBC_TUNABLES=", 15) == 0) {
      return false;
    }
  }
  return true;
}

static void forget(int number) {
  uint64_t start = atomic_exchange(&own[number], 0);
  if (start) {
    own_memory_forget(start, start + ARENA);
  }
}

void arenas_begin_own(void) {
  struct starts before, after;
  if (of_thread || !collect(&before)) {
    return;
  }
  void *volatile memory = malloc(1);
  uint64_t start = (uintptr_t)memory & -ARENA;
  free(memory);
  if (has(&before, start) || !collect(&after) || !has(&after, start)) {
    return;
  }
  for (int i = 0; i < ARENAS; i++) {
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&own[i], &none, start)) {
      own_memory_note(start, start + ARENA);
      of_thread = start;
      return;
    }
  }
}

void arenas_end_own(void) {
  for (int i = 0; of_thread && i < ARENAS; i++) {
    if (atomic_load(&own[i]) == of_thread) {
      forget(i);
    }
  }
}

void arenas_forked(void) {
  for (int i = 0; i < ARENAS; i++) {
    atomic_store_explicit(&own[i], 0, memory_order_relaxed);
  }
}

void arenas_look(void) {
  struct starts starts;
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  bool makes_more = collect(&starts) && starts.count < ARENAS_OF_CPU * cpus && makes_usual_number();
  for (int i = 0; !makes_more && i < ARENAS; i++) {
    forget(i);
  }
}

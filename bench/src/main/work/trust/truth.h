/*
 * What a program knows of its own functions: those that begin with TIMED(n) count and time each of their calls, and
 * the program writes at its end, for each of them, a line of
 *
 *   SYMBOL CALLS TOTAL SELF P50 P90 P99 P99.9 MAX
 *
 * in nanoseconds: TOTAL of the outermost calls, SELF without the timed functions that were called, percentiles of all
 * calls, within 1 %.
 *
 * A function sees its time between two readings of the clock. What it takes besides, seen from where it is called, is
 * measured when the program begins, and added.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define UNPROBED __attribute__((no_instrument_function, patchable_function_entry(0)))
#define INLINED static inline UNPROBED __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

enum { FUNCTIONS_MAX = 64, PART_BITS = 6, BUCKETS = 64 << PART_BITS };

struct truth {
  uint64_t calls, total, self, max;
  uint64_t histogram[BUCKETS];
};

/* Of a call that has not ended. */
struct timed {
  struct timed *caller;
  struct truth *of;
  uint64_t start, children;
  bool outermost;
};

static const char *truth_names[FUNCTIONS_MAX];
static struct truth truth_sum[FUNCTIONS_MAX];
static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct truth *truth_own;
static _Thread_local struct timed *truth_current;
static uint64_t truth_outside;
static uint64_t truth_start_ticks;
static struct timespec truth_start_time;

INLINED unsigned truth_bucket(uint64_t ticks) {
  if (ticks < 1 << PART_BITS) {
    return (unsigned)ticks;
  }
  unsigned shift = 63 - PART_BITS - (unsigned)__builtin_clzll(ticks);
  return ((shift + 1) << PART_BITS) + (unsigned)(ticks >> shift) - (1 << PART_BITS);
}

INLINED double truth_middle(unsigned bucket) {
  unsigned shift = bucket >> PART_BITS;
  if (shift == 0) {
    return bucket;
  }
  return ((double)((bucket & ((1 << PART_BITS) - 1)) + (1 << PART_BITS)) + 0.5) * (double)(1ULL << (shift - 1));
}

/* Of the moment when all before it is done: a processor reads its clock ahead of what it computes. */
INLINED uint64_t truth_ticks(void) {
  _mm_lfence();
  uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

INLINED struct timed timed_begin(struct timed *self, unsigned id) {
  struct truth *of = &truth_own[id];
  struct timed *caller = truth_current;
  bool outermost = true;
  for (struct timed *each = caller; each && outermost; each = each->caller) {
    outermost = each->of != of;
  }
  truth_current = self;
  return (struct timed){caller, of, truth_ticks(), 0, outermost};
}

INLINED void timed_end(struct timed *self) {
  struct truth *of = self->of;
  uint64_t ticks = truth_ticks() - self->start + truth_outside;
  truth_current = self->caller;
  if (self->caller) {
    self->caller->children += ticks;
  }
  of->calls++;
  if (self->outermost) {
    of->total += ticks;
  }
  of->self += ticks - self->children;
  if (ticks > of->max) {
    of->max = ticks;
  }
  of->histogram[truth_bucket(ticks)]++;
}

/* At the start of a function's body. */
#define TIMED(id)                                                       \
  struct timed timed_self __attribute__((cleanup(timed_end))) = timed_begin(&timed_self, (id))

UNPROBED NOINLINE static void truth_empty(unsigned id) {
  TIMED(id);
}

/* Work of some 3 cycles for each time. */
INLINED uint64_t spun(uint64_t x, unsigned times) {
  for (unsigned i = 0; i < times; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

UNPROBED static int truth_compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Each thread that calls timed functions, before and after. */
UNPROBED static void truth_open(void) {
  truth_own = calloc(FUNCTIONS_MAX, sizeof *truth_own);
  if (!truth_own) {
    abort();
  }
}

UNPROBED static void truth_close(void) {
  pthread_mutex_lock(&truth_lock);
  for (unsigned i = 0; i < FUNCTIONS_MAX; i++) {
    struct truth *sum = &truth_sum[i], *own = &truth_own[i];
    sum->calls += own->calls;
    sum->total += own->total;
    sum->self += own->self;
    sum->max = own->max > sum->max ? own->max : sum->max;
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
      sum->histogram[bucket] += own->histogram[bucket];
    }
  }
  pthread_mutex_unlock(&truth_lock);
  free(truth_own);
  truth_own = NULL;
}

/* Before the first thread begins.
 *
 * names: of the functions by their numbers
 * returns how many seconds the program is to run */
UNPROBED static double truth_begin(int count, char **arguments, const char *const *names, size_t functions) {
  enum { TIMES = 10001 };
  if (count != 3) {
    fprintf(stderr, "usage: %s SECONDS FILE\n", arguments[0]);
    exit(2);
  }
  memcpy(truth_names, names, functions * sizeof *names);
  static uint64_t whole[TIMES], seen[TIMES];
  truth_open();
  for (unsigned i = 0; i < TIMES; i++) {
    uint64_t start = truth_ticks();
    truth_empty(0);
    whole[i] = truth_ticks() - start;
    seen[i] = truth_own[0].max;
    truth_own[0].max = 0;
  }
  uint64_t clock[TIMES];
  for (unsigned i = 0; i < TIMES; i++) {
    uint64_t start = truth_ticks();
    clock[i] = truth_ticks() - start;
  }
  qsort(whole, TIMES, sizeof *whole, truth_compare);
  qsort(seen, TIMES, sizeof *seen, truth_compare);
  qsort(clock, TIMES, sizeof *clock, truth_compare);
  uint64_t inside = seen[TIMES / 2] + clock[TIMES / 2];
  truth_outside = whole[TIMES / 2] > inside ? whole[TIMES / 2] - inside : 0;
  free(truth_own);
  truth_own = NULL;
  truth_start_ticks = __rdtsc();
  clock_gettime(CLOCK_MONOTONIC, &truth_start_time);
  return atof(arguments[1]);
}

INLINED double truth_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - truth_start_time.tv_sec) + (double)(now.tv_nsec - truth_start_time.tv_nsec) / 1e9;
}

UNPROBED static double truth_percentile(const struct truth *of, double percent) {
  uint64_t rank = (uint64_t)((double)of->calls * percent / 100), below = 0;
  for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
    below += of->histogram[bucket];
    if (below > rank) {
      return truth_middle(bucket);
    }
  }
  return (double)of->max;
}

/* After the last thread has ended. */
UNPROBED static void truth_end(const char *path) {
  double nanos = truth_seconds() * 1e9 / (double)(__rdtsc() - truth_start_ticks);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    exit(1);
  }
  for (unsigned i = 0; i < FUNCTIONS_MAX; i++) {
    const struct truth *of = &truth_sum[i];
    if (of->calls == 0) {
      continue;
    }
    fprintf(file, "%s %lu %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", truth_names[i], of->calls, (double)of->total * nanos,
            (double)of->self * nanos, truth_percentile(of, 50) * nanos, truth_percentile(of, 90) * nanos,
            truth_percentile(of, 99) * nanos, truth_percentile(of, 99.9) * nanos, (double)of->max * nanos);
  }
  if (fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

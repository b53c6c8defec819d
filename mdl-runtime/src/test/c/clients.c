/*
 * A client of its own probes, in the mode that its argument names. Prints what it found, one "name value" to a line, beside
 * the truth, which it counts itself.
 */
#include <errno.h>
#include <fastinst.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, no_instrument_function))

enum { THREADS = 3, PROBES_MAX = 1024, CHANGES = 1000000, MANY = 100000, CALLS = 2000000 };

/* ---- what is probed */

static _Atomic int stop;
static volatile unsigned long truth[THREADS + 1][8]; /* a line each */

__attribute__((noinline)) int leaf(int n) {
  __asm__ volatile("");
  return n + 1;
}

__attribute__((noinline)) int outer(int n) { return leaf(n) + leaf(n + 1); }

__attribute__((noinline)) int from_client(int n) {
  __asm__ volatile("");
  return n;
}

/* ---- clients */

static __thread unsigned long runs[4];
static _Atomic unsigned long sums[4];
static _Atomic unsigned long wrong;
static void *expected_function;

PLAIN static void add_up(void) {
  for (int i = 0; i < 4; i++) {
    sums[i] += runs[i];
  }
}

PLAIN static void first(fastinst_probe probe, void *function) {
  (void)probe;
  runs[0]++;
  wrong += function != expected_function;
}

PLAIN static void second(fastinst_probe probe, void *function) {
  (void)probe;
  runs[1]++;
  wrong += function != expected_function;
  errno = 77;
}

PLAIN static void third(fastinst_probe probe, void *function) {
  (void)probe, (void)function;
  runs[2]++;
}

PLAIN static void probed(fastinst_probe probe, void *function) {
  (void)probe, (void)function;
  runs[3]++;
  from_client(1);
}

/* ---- discovery */

static struct fastinst_metadata probes[PROBES_MAX];
static uint32_t probe_count;

PLAIN static void remember(const struct fastinst_metadata *metadata, void *argument) {
  (void)argument;
  if (probe_count < PROBES_MAX) {
    probes[probe_count++] = *metadata;
  }
}

PLAIN static fastinst_probe probe_of(const char *name, enum fastinst_kind kind) {
  for (uint32_t i = 0; i < probe_count; i++) {
    if (probes[i].name && strcmp(probes[i].name, name) == 0 && probes[i].kind == kind) {
      return probes[i].probe;
    }
  }
  printf("missing %s\n", name);
  exit(2);
}

PLAIN static void discover(void) {
  int status = fastinst_wait(0, 20000);
  if (status) {
    printf("status %d %s\n", status, fastinst_message(status));
    exit(0);
  }
  fastinst_discover(0, remember, NULL);
}

PLAIN static void must(int status) {
  if (status) {
    printf("failed %d %s\n", status, fastinst_message(status));
    exit(2);
  }
}

/* ---- modes */

PLAIN static void *call_leaf(void *argument) {
  volatile unsigned long *count = argument;
  int n = 0;
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    errno = 5;
    n = leaf(n);
    wrong += errno != 5;
    ++*count;
  }
  add_up();
  return NULL;
}

PLAIN static unsigned long calls_so_far(void) {
  unsigned long calls = 0;
  for (int i = 0; i < THREADS; i++) {
    calls += truth[i][0];
  }
  return calls;
}

PLAIN static unsigned long run_threads(void (*meanwhile)(void)) {
  pthread_t threads[THREADS];
  memset((void *)truth, 0, sizeof truth);
  memset((void *)sums, 0, sizeof sums);
  atomic_store(&stop, 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, call_leaf, (void *)truth[i]);
  }
  meanwhile();
  atomic_store(&stop, 1);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  return calls_so_far();
}

static fastinst_probe at;

/* On a busy machine the changes would be over before there are many calls. */
PLAIN static void swap(void) {
  for (int i = 0; i < CHANGES || calls_so_far() <= MANY; i++) {
    must(fastinst_activate(at, i & 1 ? first : second));
  }
}

PLAIN static void pause_a_little(void) { usleep(20000); }

PLAIN static void attach_and_detach(void) {
  for (int i = 0; i < CHANGES; i += 4) {
    must(fastinst_activate(at, first));
    must(fastinst_activate(at, FASTINST_COUNT));
    must(fastinst_activate(at, second));
    must(fastinst_deactivate(at));
  }
}

PLAIN static void changes(enum fastinst_kind kind) {
  uint64_t counted = 0;
  expected_function = (void *)leaf;
  at = probe_of("leaf", kind);
  must(fastinst_activate(at, first));
  unsigned long calls = run_threads(swap);
  printf("swapped %lu %lu\n", calls, sums[0] + sums[1]);
  printf("both %d\n", sums[0] > 0 && sums[1] > 0);

  calls = run_threads(attach_and_detach);
  must(fastinst_calls(at, &counted));
  printf("some %d\n", sums[0] + sums[1] + counted > 0 && sums[0] + sums[1] + counted <= calls);

  must(fastinst_activate(at, second));
  calls = run_threads(swap);
  printf("again %lu %lu\n", calls, sums[0] + sums[1]);
  must(fastinst_deactivate(at));
  must(fastinst_synchronize(5000));
  run_threads(pause_a_little);
  printf("off %lu\n", sums[0] + sums[1]);
  printf("wrong %lu\n", (unsigned long)wrong);
}

PLAIN static void *call_outer(void *unused) {
  (void)unused;
  int n = 0;
  for (int i = 0; i < CALLS; i++) {
    n = outer(n);
  }
  add_up();
  return NULL;
}

PLAIN static void outer_in_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, call_outer, NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
}

/* Calls that the profiler sees while clients come and go: its counts must stay the program's. */
PLAIN static void *change_all(void *unused) {
  (void)unused;
  fastinst_probe all[PROBES_MAX];
  unsigned long rounds = 0;
  for (uint32_t i = 0; i < probe_count; i++) {
    all[i] = probes[i].probe;
  }
  while (!atomic_load(&stop)) {
    must(fastinst_activate_all(all, probe_count, third));
    usleep(300);
    if (rounds % 2) {
      must(fastinst_activate_all(all, probe_count, FASTINST_COUNT));
      usleep(300);
    }
    must(fastinst_deactivate_all(all, probe_count));
    usleep(200);
    rounds++;
  }
  printf("rounds %lu\n", rounds);
  return NULL;
}

PLAIN static void beside_profiler(void) {
  pthread_t changer;
  pthread_create(&changer, NULL, change_all, NULL);
  for (int i = 0; i < 12; i++) {
    outer_in_threads();
  }
  atomic_store(&stop, 1);
  pthread_join(changer, NULL);
  printf("clients %d\n", sums[2] > 0);
  printf("outer %lu\nleaf %lu\n", 12ul * THREADS * CALLS, 24ul * THREADS * CALLS);
}

/* Attached for the whole run, or not at all. */
PLAIN static void held(bool attached) {
  fastinst_probe both[2] = {probe_of("leaf", FASTINST_ENTRY), probe_of("leaf", FASTINST_EXIT)};
  must(attached ? fastinst_activate_all(both, 2, third) : FASTINST_OK);
  for (int i = 0; i < 12; i++) {
    outer_in_threads();
  }
  printf("clients %lu\n", (unsigned long)sums[2]);
  printf("outer %lu\nleaf %lu\n", 12ul * THREADS * CALLS, 24ul * THREADS * CALLS);
}

PLAIN static void count(void) {
  fastinst_probe all[PROBES_MAX];
  for (uint32_t i = 0; i < probe_count; i++) {
    all[i] = probes[i].probe;
  }
  must(fastinst_activate_all(all, probe_count, FASTINST_COUNT));
  outer_in_threads();
  must(fastinst_deactivate_all(all, probe_count));
  outer_in_threads();
  for (int kind = FASTINST_ENTRY; kind <= FASTINST_EXIT; kind++) {
    uint64_t calls = 0;
    must(fastinst_calls(probe_of("leaf", (enum fastinst_kind)kind), &calls));
    printf("leaf %lu %lu\n", 2ul * THREADS * CALLS, (unsigned long)calls);
    must(fastinst_calls(probe_of("outer", (enum fastinst_kind)kind), &calls));
    printf("outer %lu %lu\n", 1ul * THREADS * CALLS, (unsigned long)calls);
  }
}

PLAIN static void nested(void) {
  uint64_t before, after;
  must(fastinst_skipped(&before));
  must(fastinst_activate(probe_of("leaf", FASTINST_ENTRY), probed));
  must(fastinst_activate(probe_of("from_client", FASTINST_ENTRY), third));
  for (int i = 0; i < 1000; i++) {
    leaf(i);
    from_client(i);
  }
  must(fastinst_skipped(&after));
  printf("probed %lu\nthird %lu\nskipped %lu\n", runs[3], runs[2], (unsigned long)(after - before));
}

PLAIN static void forked(void) {
  must(fastinst_activate(probe_of("leaf", FASTINST_ENTRY), third));
  leaf(1);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    leaf(2);
    int status = fastinst_deactivate(probe_of("leaf", FASTINST_ENTRY));
    printf("child %lu %d\n", runs[2], status);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  leaf(3);
  printf("parent %lu\n", runs[2]);
}

PLAIN static void errors(void) {
  fastinst_probe leaf_entry = probe_of("leaf", FASTINST_ENTRY);
  fastinst_probe pair[2] = {leaf_entry, 1u << 30};
  struct fastinst_metadata metadata;
  uint64_t calls;
  int statuses[] = {fastinst_activate(1u << 30, third), fastinst_activate(leaf_entry, NULL),
                    fastinst_deactivate(1u << 30),      fastinst_activate_all(pair, 2, third),
                    fastinst_calls(1u << 30, &calls),   fastinst_describe(1u << 30, &metadata),
                    fastinst_wait(1u << 30, 10),        fastinst_deactivate(leaf_entry),
                    fastinst_activate_all(NULL, 0, third)};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    printf("%d %s\n", statuses[i], fastinst_message(statuses[i]));
  }
  leaf(1);
  printf("ran %lu\n", runs[2]); /* a bulk activation that failed has activated nothing */
}

PLAIN static void list(void) {
  usleep(500000); /* lines are read behind the probes */
  for (uint32_t i = 0; i < probe_count; i++) {
    struct fastinst_metadata metadata;
    must(fastinst_describe(probes[i].probe, &metadata));
    printf("%u %s %s %s:%u %d %d\n", metadata.probe, metadata.kind == FASTINST_ENTRY ? "entry" : "exit", metadata.name,
           metadata.file ? strrchr(metadata.file, '/') + 1 : "?", metadata.line, metadata.image != NULL,
           metadata.function != NULL);
  }
}

PLAIN int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  discover();
  if (strcmp(mode, "entry") == 0) changes(FASTINST_ENTRY);
  if (strcmp(mode, "exit") == 0) changes(FASTINST_EXIT);
  if (strcmp(mode, "profiler") == 0) beside_profiler();
  if (strcmp(mode, "held") == 0) held(true);
  if (strcmp(mode, "alone") == 0) held(false);
  if (strcmp(mode, "count") == 0) count();
  if (strcmp(mode, "nested") == 0) nested();
  if (strcmp(mode, "forked") == 0) forked();
  if (strcmp(mode, "errors") == 0) errors();
  if (strcmp(mode, "list") == 0) list();
  return 0;
}

/*
 * A program that looks at itself: it counts the calls of all its functions for a moment, and then times the one that is
 * called most, with functions of its own at that one's probes.
 *
 *   gcc -O2 -finstrument-functions -Idist/include examples/probes.c -o probes -pthread
 *   dist/bin/mdl run --no-profile -- ./probes
 */
#include <fastinst.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNPROBED __attribute__((no_instrument_function))

/* ---- the work */

__attribute__((noinline)) unsigned mix(unsigned state) { return (state ^ state >> 15) * 0x2c1b3c6du; }

__attribute__((noinline)) unsigned shuffle(unsigned state) {
  for (unsigned rounds = state % 7; rounds > 0; rounds--) {
    state = mix(state);
  }
  return state;
}

UNPROBED static void *work(void *unused) {
  volatile unsigned state = 1;
  (void)unused;
  for (;;) {
    state = shuffle(state) + 1;
  }
  return NULL;
}

/* ---- what looks at it */

static struct fastinst_metadata *probes;
static uint32_t probe_count;
static __thread struct timespec began;
static unsigned long calls_timed, nanos; /* of all threads, roughly */

UNPROBED static void remember(const struct fastinst_metadata *metadata, void *unused) {
  (void)unused;
  probes = realloc(probes, (probe_count + 1) * sizeof *probes);
  probes[probe_count++] = *metadata;
}

UNPROBED static void begin(fastinst_probe probe, void *function) {
  (void)probe, (void)function;
  clock_gettime(CLOCK_MONOTONIC, &began);
}

UNPROBED static void end(fastinst_probe probe, void *function) {
  struct timespec now;
  (void)probe, (void)function;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (began.tv_sec != 0) { /* else the call began before there was a probe */
    __atomic_fetch_add(&nanos, (now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec, __ATOMIC_RELAXED);
    __atomic_fetch_add(&calls_timed, 1, __ATOMIC_RELAXED);
  }
}

UNPROBED static uint64_t count_of(const struct fastinst_metadata *probe) {
  uint64_t calls = 0;
  return probe->kind == FASTINST_ENTRY && fastinst_calls(probe->probe, &calls) == FASTINST_OK ? calls : 0;
}

UNPROBED int main(void) {
  const struct fastinst_metadata *hottest = NULL;
  pthread_t threads[2];
  int status = fastinst_wait(0, 10000);
  if (status != FASTINST_OK) {
    fprintf(stderr, "probes: %s\n", fastinst_message(status));
    return 1;
  }
  fastinst_discover(0, remember, NULL);
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, work, NULL);
  }

  for (uint32_t i = 0; i < probe_count; i++) {
    fastinst_activate(probes[i].probe, FASTINST_COUNT);
  }
  usleep(100000);
  for (uint32_t i = 0; i < probe_count; i++) {
    fastinst_deactivate(probes[i].probe);
    if (!hottest || count_of(&probes[i]) > count_of(hottest)) {
      hottest = &probes[i];
    }
  }
  printf("%s: %llu calls in 100 ms\n", hottest->name, (unsigned long long)count_of(hottest));

  for (uint32_t i = 0; i < probe_count; i++) {
    if (probes[i].function == hottest->function) {
      fastinst_activate(probes[i].probe, probes[i].kind == FASTINST_ENTRY ? begin : end);
    }
  }
  usleep(100000);
  printf("%s: %lu calls timed, %.0f ns each\n", hottest->name, calls_timed, (double)nanos / (double)calls_timed);
  return 0;
}

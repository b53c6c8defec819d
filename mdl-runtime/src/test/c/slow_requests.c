/*
 * slow_requests THREADS REQUESTS EVERY MILLIS: each thread handles REQUESTS requests of 20 us; each EVERYth one takes MILLIS more:
 * it sleeps, waits for a condition, or computes, in turn. Prints how many of each there were, and the elapsed time in ms.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

enum kind { SLEEPS, WAITS, COMPUTES, KINDS };

static long requests, every;
static unsigned millis;
static unsigned counts[KINDS];

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline void spin(uint64_t us) {
  double end = now() + (double)us / 1e6;
  while (now() < end) {
  }
}

PROBED void parse_request(int slow) { spin(slow == COMPUTES ? 5 + 1000 * (uint64_t)millis : 5); }

PROBED void await_lock(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)millis * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&never, &mutex, &until) == 0) {
  }
  pthread_mutex_unlock(&mutex);
}

PROBED void fetch_rows(int slow) {
  spin(6);
  if (slow == SLEEPS) {
    usleep(1000 * millis);
  } else if (slow == WAITS) {
    await_lock();
  }
}

PROBED void run_query(int slow) {
  spin(4);
  fetch_rows(slow);
}

PROBED void render_page(void) { spin(5); }

PROBED void handle_request(int slow) {
  parse_request(slow);
  run_query(slow);
  render_page();
}

static void *serve(void *unused) {
  for (long i = 1; i <= requests; i++) {
    int slow = i % every == 0 ? (int)(i / every % KINDS) : KINDS;
    if (slow != KINDS) {
      __atomic_add_fetch(&counts[slow], 1, __ATOMIC_RELAXED);
    }
    handle_request(slow);
  }
  return unused;
}

int main(int argc, char **argv) {
  enum { THREADS_MAX = 64 };
  pthread_t threads[THREADS_MAX];
  int count = argc == 5 ? atoi(argv[1]) : 0;
  if (count < 1 || count > THREADS_MAX) {
    return 2;
  }
  requests = atol(argv[2]);
  every = atol(argv[3]);
  millis = (unsigned)atoi(argv[4]);
  double begin = now();
  for (int i = 0; i < count; i++) {
    if (pthread_create(&threads[i], NULL, serve, NULL) != 0) {
      return 1;
    }
  }
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
  }
  printf("%u sleep, %u wait, %u compute; %.1f ms\n", counts[SLEEPS], counts[WAITS], counts[COMPUTES], 1e3 * (now() - begin));
  return 0;
}

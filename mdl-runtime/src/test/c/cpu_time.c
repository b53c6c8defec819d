/* Functions that wait and that compute, in two threads that share a processor. Prints for each "name calls nanoseconds": the CPU
 * time that its thread has used meanwhile, by clock_gettime(2); then "total nanoseconds" of both threads by getrusage(2). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function)) static
#define ROUNDS 60

struct work {
  void (*function)(void);
  const char *name;
  uint64_t calls, nanos;
};

__attribute__((noinline)) void sleeps(void) { nanosleep(&(struct timespec){0, 5000000}, NULL); }

__attribute__((noinline)) void computes(void) {
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 2000000; i++) sum += i;
}

__attribute__((noinline)) void both(void) {
  computes();
  sleeps();
}

/* Both processes return from it. */
__attribute__((noinline)) pid_t forks(void) { return fork(); }

QUIET uint64_t used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct work works[] = {{sleeps, "sleeps", 0, 0}, {computes, "computes", 0, 0}, {both, "both", 0, 0}};
static uint64_t total;

QUIET void *body(void *unused) {
  struct rusage usage;
  for (int i = 0; i < ROUNDS; i++) {
    for (struct work *work = works; work < works + 3; work++) {
      uint64_t before = used();
      work->function();
      __atomic_fetch_add(&work->nanos, used() - before, __ATOMIC_RELAXED);
      __atomic_fetch_add(&work->calls, 1, __ATOMIC_RELAXED);
    }
  }
  getrusage(RUSAGE_THREAD, &usage);
  struct timeval user = usage.ru_utime, kernel = usage.ru_stime;
  __atomic_fetch_add(&total, (uint64_t)(user.tv_sec + kernel.tv_sec) * 1000000000u + (uint64_t)(user.tv_usec + kernel.tv_usec) * 1000u,
                     __ATOMIC_RELAXED);
  return unused;
}

__attribute__((no_instrument_function)) int main(void) {
  pthread_t threads[2];
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, body, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  pid_t child = forks();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  for (int i = 0; i < 3; i++) printf("%s %lu %lu\n", works[i].name, works[i].calls, works[i].nanos);
  printf("total %lu\n", total);
  return 0;
}

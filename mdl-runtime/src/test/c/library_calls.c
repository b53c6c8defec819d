/* Calls functions of libc, and tells how often and how long: counted where it calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, BLOCK_BYTES = 100, READ_BYTES = 11, WRITTEN_BYTES = 7, WAITS = 5, WAIT_NANOS = 20000000 };

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static long times;
static long transfers;

__attribute__((noinline)) static void transfer(long i) {
  pthread_mutex_lock(&ledger);
  transfers++;
  if (i % 2 == 0) {
    pthread_mutex_lock(&journal);
    pthread_mutex_unlock(&journal);
  }
  pthread_mutex_unlock(&ledger);
}

__attribute__((noinline)) static void allocate(long i) {
  char *volatile block = malloc(BLOCK_BYTES + (size_t)(i % 2));
  char *volatile cleared = calloc(2, BLOCK_BYTES);
  free(cleared);
  free(block);
}

static void *work(void *unused) {
  (void)unused;
  for (long i = 0; i < times; i++) {
    transfer(i);
    allocate(i);
  }
  return NULL;
}

static void *try(void *busy) {
  for (long i = 0; i < times; i++) {
    *(long *)busy += pthread_mutex_trylock(&journal) == EBUSY;
  }
  return NULL;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Another thread wants what this one keeps for a while. */
static void *keep(void *begun) {
  pthread_mutex_lock(&ledger);
  *(volatile int *)begun = 1;
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

__attribute__((noinline)) static double wait_for_mutex(void) {
  volatile int begun = 0;
  pthread_t keeper;
  pthread_create(&keeper, NULL, keep, (void *)&begun);
  while (!begun) {
  }
  double start = seconds();
  pthread_mutex_lock(&ledger);
  double waited = seconds() - start;
  pthread_mutex_unlock(&ledger);
  pthread_join(keeper, NULL);
  return waited;
}

__attribute__((noinline)) static double wait_for_condition(void) {
  pthread_mutex_lock(&journal);
  double start = seconds();
  for (int i = 0; i < WAITS; i++) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&never, &journal, &until);
  }
  double waited = seconds() - start;
  pthread_mutex_unlock(&journal);
  return waited;
}

__attribute__((noinline)) static void transport(long count) {
  char bytes[READ_BYTES] = {0};
  int from = open("/dev/zero", O_RDONLY);
  int to = open("/dev/null", O_WRONLY);
  for (long i = 0; i < count; i++) {
    if (read(from, bytes, READ_BYTES) != READ_BYTES || write(to, bytes, WRITTEN_BYTES) != WRITTEN_BYTES) {
      exit(1);
    }
  }
  close(from);
  close(to);
}

#ifdef POINTERS
/* Of the same function, one that was taken before, and one that is taken now. */
static void (*freeing)(void *);
static void (*volatile held)(void *) = free;

static void compare(void) {
  __asm__ volatile("movq free@GOTPCREL(%%rip), %0" : "=r"(freeing));
  puts(freeing == held ? "same" : "differ");
}
#endif

int main(void) {
  printf("ready %p %p %p\n", (void *)&ledger, (void *)&journal, (void *)&never);
  fflush(stdout);
  char line[32];
  while (fgets(line, sizeof line, stdin)) {
    times = atol(line);
    pthread_t workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
      pthread_create(&workers[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
      pthread_join(workers[i], NULL);
    }
    long busy = 0;
    pthread_mutex_lock(&journal);
    pthread_create(&workers[0], NULL, try, &busy);
    pthread_join(workers[0], NULL);
    pthread_mutex_unlock(&journal);
    transport(times);
    double mutex = wait_for_mutex();
    double condition = wait_for_condition();
    printf("%ld %ld %f %f\n", transfers, busy, mutex, condition);
#ifdef POINTERS
    compare();
#endif
    fflush(stdout);
  }
  return 0;
}

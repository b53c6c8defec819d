/* Spends time in functions as lines of stdin say, and answers with the seconds that it has measured there itself. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline __attribute__((always_inline)) double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Sleeps, so it takes elapsed time only. */
__attribute__((noinline)) double waiting(double time) {
  double start = seconds(CLOCK_MONOTONIC);
  struct timespec rest = {.tv_nsec = (long)(1e9 * time)};
  nanosleep(&rest, NULL);
  return seconds(CLOCK_MONOTONIC) - start;
}

/* Takes CPU time. */
__attribute__((noinline)) double working(double time) {
  double start = seconds(CLOCK_THREAD_CPUTIME_ID);
  while (seconds(CLOCK_THREAD_CPUTIME_ID) - start < time) {
  }
  return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

__attribute__((noinline)) double one(void) { return waiting(0.1) + 1; }
__attribute__((noinline)) double two(void) { return waiting(0.1) + waiting(0.1) + 1; }

/* Its thread ends in it. */
__attribute__((noinline)) void *ending(void *measured) {
  double *times = measured;
  double start = seconds(CLOCK_MONOTONIC);
  times[1] = working(0.1);
  waiting(0.1);
  times[0] = seconds(CLOCK_MONOTONIC) - start;
  pthread_exit(NULL);
}

__attribute__((noinline)) double forking(pid_t *child) {
  double start = seconds(CLOCK_MONOTONIC);
  *child = fork();
  waiting(*child == 0 ? 0.3 : 0.1);
  return seconds(CLOCK_MONOTONIC) - start;
}

int main(void) {
  char line[32];
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    double times[2] = {0, 0};
    if (strcmp(line, "wait\n") == 0) {
      puts("waiting");
      fflush(stdout);
      times[0] = waiting(0.5);
    } else if (strcmp(line, "callers\n") == 0) {
      times[0] = one() - 1;
      times[1] = two() - 1;
    } else if (strcmp(line, "thread\n") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, ending, times);
      pthread_join(thread, NULL);
    } else if (strcmp(line, "fork\n") == 0) {
      pid_t child;
      times[0] = forking(&child);
      if (child == 0) {
        one();
        _exit(0);
      }
      waitpid(child, NULL, 0);
    }
    printf("%.6f %.6f\n", times[0], times[1]);
    fflush(stdout);
  }
  return 0;
}

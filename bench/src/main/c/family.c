/*
 * Forks a process for each line of its input. These live as long as the first one.
 *
 * A line is answered by the ticks from before the fork until the new process has called a function.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define UNPROBED __attribute__((noinline, no_instrument_function, patchable_function_entry(0)))

enum { CHILDREN_MAX = 256 };

__attribute__((noinline)) void probed(void) {
  __asm__ volatile("");
}

UNPROBED static uint64_t fork_one(const int *ends, pid_t *child) {
  uint64_t start = __rdtsc();
  *child = fork();
  if (*child == 0) {
    probed();
    uint64_t ticks = __rdtsc() - start;
    if (write(ends[1], &ticks, sizeof ticks) != sizeof ticks) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  uint64_t ticks;
  if (*child < 0 || read(ends[0], &ticks, sizeof ticks) != sizeof ticks) {
    exit(1);
  }
  return ticks;
}

UNPROBED int main(void) {
  pid_t children[CHILDREN_MAX];
  int count = 0;
  int ends[2];
  char line[16];
  if (pipe(ends) != 0) {
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  probed();
  puts("ready");
  while (count < CHILDREN_MAX && fgets(line, sizeof line, stdin) != NULL) {
    printf("%lu\n", (unsigned long)fork_one(ends, &children[count]));
    count++;
  }
  for (int i = 0; i < count; i++) {
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
  }
  return 0;
}

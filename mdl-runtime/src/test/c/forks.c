/* Forks as many processes as the argument says, four at a time. Each calls work() one to five times, and every third one kills itself.
 * Prints how often work() was called. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;
__attribute__((noinline)) void work(long x) { sink += x; }

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
  if (argc < 2) return 2;
  long calls = 0;
  for (int i = 0, forks = atoi(argv[1]); i < forks; i++) {
    if (i >= 4 && wait(NULL) < 0) return 3;
    pid_t pid = fork();
    if (pid < 0) return 4;
    if (pid == 0) {
      for (int n = 0; n <= i % 5; n++) work(n);
      if (i % 3 == 0) kill(getpid(), SIGKILL);
      _exit(0);
    }
    calls += i % 5 + 1;
  }
  while (wait(NULL) > 0) {
  }
  printf("%ld\n", calls);
  return 0;
}

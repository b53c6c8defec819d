/*
 * A server that is root, with workers that become nobody, and make 1000 calls each then. The argument says what else one of them
 * does: it forks a process that makes calls, too; or it writes over all memory that is not its own, for as long as the others run.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WITHOUT_PROBE __attribute__((no_instrument_function))
enum { NOBODY = 65534, WORKERS = 4, CALLS = 1000, CALLS_OF_MASTER = 100, SPAN = 1 << 20 };

__attribute__((noinline)) int of_worker(int n) {
  __asm__ volatile("");
  return n + 1;
}

__attribute__((noinline)) int of_master(int n) {
  __asm__ volatile("");
  return n + 2;
}

WITHOUT_PROBE static int call(int times) {
  int sum = 0;
  for (int i = 0; i < times; i++) {
    sum += of_worker(i);
  }
  return sum;
}

WITHOUT_PROBE static void scribble(void) {
  static unsigned long start[64], end[64];
  char line[512], rights[5];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) && count < 64) {
    sscanf(line, "%lx-%lx %4s", &start[count], &end[count], rights);
    count += rights[1] == 'w' && rights[3] == 's';
  }
  fclose(maps);
  if (count == 0) {
    _exit(7);
  }
  for (unsigned long word = 1;; word = word * 6364136223846793005u + 1442695040888963407u) {
    for (int i = 0; i < count; i++) {
      unsigned long words = (end[i] - start[i]) / sizeof word;
      ((volatile unsigned long *)start[i])[word / 64 % words] = word & 1 ? start[i] + word / 64 % SPAN / 8 * 8 : word >> (word / 4 % 60);
    }
  }
}

WITHOUT_PROBE static void serve(const char *what) {
  if (setgroups(0, NULL) + setresgid(NOBODY, NOBODY, NOBODY) + setresuid(NOBODY, NOBODY, NOBODY) != 0) {
    _exit(9);
  }
  int sum = call(CALLS);
  if (strcmp(what, "scribbles") == 0) {
    scribble();
  }
  if (strcmp(what, "forks") == 0 && fork() == 0) {
    _exit(call(CALLS) != sum);
  }
  while (wait(NULL) > 0) {
  }
  _exit(sum == 0);
}

int main(int argc, char **argv) {
  pid_t first = 0;
  int sum = 0, failures = 0, status;
  if (argc < 2) {
    return 2;
  }
  for (int i = 0; i < WORKERS; i++) {
    pid_t worker = fork();
    if (worker == 0) {
      serve(i == 0 ? argv[1] : "honest");
    }
    first = first ? first : worker;
  }
  int is_wild = strcmp(argv[1], "scribbles") == 0;
  for (int i = 0; i < WORKERS - is_wild; i++) {
    wait(&status);
    failures += status != 0;
  }
  for (int i = 0; i < CALLS_OF_MASTER; i++) {
    sum += of_master(i);
    usleep(10000);
  }
  if (is_wild) {
    kill(first, SIGKILL);
    waitpid(first, &status, 0);
  }
  return failures || !sum;
}

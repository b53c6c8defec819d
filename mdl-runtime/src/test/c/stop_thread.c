/* Stops one thread of a process, as a debugger does, and prints "stopped"; lets it go on at the end of standard input, and prints
 * "released". Arguments: process id, and the thread's place among the process's threads in the order of their creation, from 0. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  char path[64];
  int tids[256], count = 0, place = atoi(argv[2]);
  snprintf(path, sizeof path, "/proc/%s/task", argv[1]);
  DIR *tasks = opendir(path);
  if (!tasks) return 3;
  for (struct dirent *entry; (entry = readdir(tasks)) && count < 256;)
    if (entry->d_name[0] != '.') tids[count++] = atoi(entry->d_name);
  qsort(tids, count, sizeof *tids, ascending);
  if (place >= count) return 4;
  if (ptrace(PTRACE_SEIZE, tids[place], 0, 0)) return 5;
  if (ptrace(PTRACE_INTERRUPT, tids[place], 0, 0)) return 6;
  int status;
  if (waitpid(tids[place], &status, __WALL) != tids[place] || !WIFSTOPPED(status)) return 7;
  puts("stopped");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  if (ptrace(PTRACE_DETACH, tids[place], 0, 0)) return 8;
  puts("released");
  return 0;
}

/* Stops one thread of a process, as a debugger does, and prints "stopped"; lets it go on at the end of standard input, and prints
 * "released". Arguments: process id, and the thread's place among the process's threads in the order of their creation, from 0. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  char path[64];
  int thread = 0, place = atoi(argv[2]);
  snprintf(path, sizeof path, "/proc/%s/task", argv[1]);
  DIR *tasks = opendir(path);
  if (!tasks) return 3;
  /* Linux lists them in that order; their ids begin anew when they are used up. */
  for (struct dirent *entry; !thread && (entry = readdir(tasks));)
    if (entry->d_name[0] != '.' && place-- == 0) thread = atoi(entry->d_name);
  if (!thread) return 4;
  if (ptrace(PTRACE_SEIZE, thread, 0, 0)) return 5;
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0)) return 6;
  int status;
  if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return 7;
  puts("stopped");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  if (ptrace(PTRACE_DETACH, thread, 0, 0)) return 8;
  puts("released");
  return 0;
}

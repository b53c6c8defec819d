/* Stops one thread of a process, as a debugger does. Arguments of the program: process id, and the thread's place among the
 * process's threads in the order of their creation, from 0. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread's id; 0 when it cannot be stopped. */
static int seize(int argc, char **argv) {
  if (argc < 3) return 0;
  char path[64];
  int thread = 0, place = atoi(argv[2]);
  snprintf(path, sizeof path, "/proc/%s/task", argv[1]);
  DIR *tasks = opendir(path);
  if (!tasks) return 0;
  /* Linux lists them in that order; their ids begin anew when they are used up. */
  for (struct dirent *entry; !thread && (entry = readdir(tasks));)
    if (entry->d_name[0] != '.' && place-- == 0) thread = atoi(entry->d_name);
  if (!thread || ptrace(PTRACE_SEIZE, thread, 0, 0) || ptrace(PTRACE_INTERRUPT, thread, 0, 0)) return 0;
  int status;
  return waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status) ? thread : 0;
}

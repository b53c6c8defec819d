/* Lets a thread of a process jump to address 0, and waits until it makes the system call pause: as a thread of a JVM
 * does whose error was fatal. Arguments: process id, and the thread's place among the process's threads in the order of
 * their creation, from 0. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MILLIS 20000

static long system_call(const char *process, int thread) {
  char path[64];
  long number = -1;
  snprintf(path, sizeof path, "/proc/%s/task/%d/syscall", process, thread);
  FILE *file = fopen(path, "r");
  if (file) {
    if (fscanf(file, "%ld", &number) != 1) number = -1; /* it runs */
    fclose(file);
  }
  return number;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  char path[64];
  int thread = 0, place = atoi(argv[2]);
  snprintf(path, sizeof path, "/proc/%s/task", argv[1]);
  DIR *tasks = opendir(path);
  if (!tasks) return 3;
  for (struct dirent *entry; !thread && (entry = readdir(tasks));)
    if (entry->d_name[0] != '.' && place-- == 0) thread = atoi(entry->d_name);
  if (!thread) return 4;
  if (ptrace(PTRACE_SEIZE, thread, 0, 0)) return 5;
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0)) return 6;
  int status;
  if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return 7;
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, thread, 0, &registers)) return 8;
  registers.rip = 0;
  registers.orig_rax = -1; /* the system call that it was in is not restarted */
  if (ptrace(PTRACE_SETREGS, thread, 0, &registers) || ptrace(PTRACE_DETACH, thread, 0, 0)) return 9;
  for (int i = 0; i < PATIENCE_MILLIS; i++) {
    if (system_call(argv[1], thread) == SYS_pause) return 0;
    usleep(1000);
  }
  return 10;
}

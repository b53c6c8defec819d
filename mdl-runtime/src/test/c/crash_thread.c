/* Makes a waiting thread (seize.h) jump to address 0, then waits until the thread makes the system call pause, as a JVM's thread
 * does after a fatal error. A thread that does not wait may hold malloc's lock; the JVM's error report would then wait for
 * it for ever. */
#include "seize.h"

#include <sys/syscall.h>
#include <sys/user.h>

#define PATIENCE_MILLIS 20000
#define PAUSE_MICROS_MAX 200000

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

/* The kernel restarts what was interrupted: ERESTARTSYS to ERESTART_RESTARTBLOCK, which user space never sees. */
static int waited(const struct user_regs_struct *registers) {
  long result = (long)registers->rax;
  return (long)registers->orig_rax >= 0 && result <= -512 && result >= -516;
}

int main(int argc, char **argv) {
  int thread = seize(argc, argv);
  if (!thread) return 2;
  struct user_regs_struct registers;
  useconds_t pause = 300;
  while (ptrace(PTRACE_GETREGS, thread, 0, &registers) == 0 && !waited(&registers)) {
    if (ptrace(PTRACE_CONT, thread, 0, 0)) return 3;
    usleep(pause);
    /* Where others have the processors it would be stopped each time before it had one. */
    if (pause < PAUSE_MICROS_MAX) pause *= 2;
    if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) || waitpid(thread, NULL, __WALL) != thread) return 3;
  }
  registers.rip = 0;
  registers.orig_rax = -1; /* the system call that it was in is not restarted */
  if (ptrace(PTRACE_SETREGS, thread, 0, &registers) || ptrace(PTRACE_DETACH, thread, 0, 0)) return 4;
  for (int i = 0; i < PATIENCE_MILLIS; i++) {
    if (system_call(argv[1], thread) == SYS_pause) return 0;
    usleep(1000);
  }
  return 5;
}

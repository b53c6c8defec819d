/*
 * Forbids itself the time-stamp counter: forbids_clock prctl|syscall|executes. A child executes what comes behind that one
 * instruction at a time, and says on stderr when the counter is read: not every machine has a fault for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((no_instrument_function, patchable_function_entry(0, 0), noinline))

enum { CALLS = 1000, CALLS_BEHIND = 20 };

static int to_watcher[2], from_watcher[2];

/* ---- the child */

OWN static void look_at_instruction(pid_t thread) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, thread, 0, &registers) == 0) {
    long code = ptrace(PTRACE_PEEKTEXT, thread, registers.rip, 0);
    if ((code & 0xffff) == 0x310f || (code & 0xffffff) == 0xf9010f) {
      fprintf(stderr, "the counter is read\n");
    }
  }
}

OWN static int watch(pid_t main_thread) {
  char byte;
  int status, told = 0;
  if (read(to_watcher[0], &byte, 1) != 1 || ptrace(PTRACE_SEIZE, main_thread, 0, PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK) != 0 ||
      ptrace(PTRACE_INTERRUPT, main_thread, 0, 0) != 0) {
    fprintf(stderr, "not watched: %s\n", strerror(errno));
    return 1;
  }
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (WIFSTOPPED(status)) {
      if (!told) {
        told = write(from_watcher[1], &byte, 1) == 1;
      }
      look_at_instruction(thread);
      int signal = WSTOPSIG(status) == SIGTRAP || status >> 16 ? 0 : WSTOPSIG(status);
      ptrace(PTRACE_SINGLESTEP, thread, 0, signal);
    }
  }
  return 0;
}

OWN static int is_watched(void) {
  char byte = 1;
  return write(to_watcher[1], &byte, 1) == 1 && read(from_watcher[0], &byte, 1) == 1;
}

OWN static void begin_watcher(void) {
  pid_t main_thread = getpid();
  if (pipe2(to_watcher, O_CLOEXEC) != 0 || pipe2(from_watcher, O_CLOEXEC) != 0) {
    return;
  }
  pid_t watcher = fork();
  if (watcher == 0) {
    _exit(watch(main_thread));
  }
  prctl(PR_SET_PTRACER, watcher, 0, 0, 0);
}

/* ---- the program */

__attribute__((noinline)) long leaf(long x) { return x * 3 + 1; }

__attribute__((noinline)) long work(long x) { return leaf(x) + leaf(x + 1); }

__attribute__((noinline)) long work_often(void) {
  long sum = 0;
  for (int i = 0; i < CALLS; i++) {
    sum += work(i);
  }
  return sum;
}

__attribute__((noinline)) long work_behind(void) {
  long sum = 0;
  for (int i = 0; i < CALLS_BEHIND; i++) {
    sum += leaf(i);
  }
  return sum;
}

static void *in_thread(void *unused) {
  (void)unused;
  return (void *)work_behind();
}

/* It returns by way of its probe. */
__attribute__((noinline)) int forbid(int by_system_call) {
  int result = by_system_call ? (int)syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0L, 0L, 0L)
                              : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  return result == 0 && is_watched() ? 0 : 1;
}

__attribute__((noinline)) int forbid_deeply(int by_system_call) { return forbid(by_system_call) + 0 * (int)leaf(1); }

int main(int argc, char **argv) {
  int state = 0, status = 0;
  long sum = 0;
  void *of_thread;
  pthread_t thread;
  const char *how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "executes") == 0) {
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    execl(argv[0], argv[0], "inherits", (char *)0);
    return 1;
  }
  begin_watcher();
  if (strcmp(how, "inherits") == 0) {
    if (!is_watched()) {
      return 2;
    }
  } else {
    sum = work_often();
    if (forbid_deeply(strcmp(how, "syscall") == 0) != 0) {
      return 3;
    }
  }
  if (prctl(PR_GET_TSC, &state) != 0 || state != PR_TSC_SIGSEGV) {
    return 4;
  }
  sum += work_behind();
  if (pthread_create(&thread, NULL, in_thread, NULL) != 0) {
    return 5;
  }
  pthread_join(thread, &of_thread);
  pid_t child = fork();
  if (child == 0) {
    return (int)(work_behind() & 127);
  }
  waitpid(child, &status, 0);
  printf("%ld %ld %d\n", sum, (long)of_thread, status);
  return 0;
}

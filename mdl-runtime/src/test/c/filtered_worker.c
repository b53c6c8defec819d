/* A forked process that lets itself write and end, and nothing else, before its first call with a probe. It makes 1000 of them,
 * and another thread of it 7. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WITHOUT_PROBE __attribute__((no_instrument_function))
enum { CALLS = 1000, CALLS_OF_THREAD = 7 };
enum { STARTED = 1, MAY_CALL, HAS_CALLED };

static volatile int state, called;

__attribute__((noinline)) void work(void) { called++; }
__attribute__((noinline)) void work_in_thread(void) { called++; }

WITHOUT_PROBE static void await(int wanted) {
  while (state != wanted) {
  }
}

WITHOUT_PROBE static void *call_in_thread(void *unused) {
  state = STARTED;
  await(MAY_CALL);
  for (int i = 0; i < CALLS_OF_THREAD; i++) {
    work_in_thread();
  }
  state = HAS_CALLED;
  for (;;) {
  }
  return unused;
}

WITHOUT_PROBE static void serve(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  pthread_t thread;
  pthread_create(&thread, NULL, call_in_thread, NULL);
  await(STARTED);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
    _exit(90);
  }
  for (int i = 0; i < CALLS; i++) {
    work();
  }
  state = MAY_CALL;
  await(HAS_CALLED);
  _exit(called == CALLS + CALLS_OF_THREAD ? 3 : 91);
}

int main(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    serve();
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 92;
}

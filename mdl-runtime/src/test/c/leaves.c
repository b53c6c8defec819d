/* Says "ready", and at the next line of input does what its argument says:
 *   exits     it ends
 *   alone     it enters a user namespace, which only the one thread of a process can, and says "alone"; ends at a further line
 *   filtered  it ends, and would be killed for a system call that removes a file, or asks for one */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say(const char *what) {
  puts(what);
  fflush(stdout);
  getchar();
}

static int filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlink, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlinkat, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lstat, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  say("ready");
  if (strcmp(argv[1], "filtered") == 0) return filter();
  if (strcmp(argv[1], "alone") == 0) {
    if (unshare(CLONE_NEWUSER) != 0) return 3;
    say("alone");
  }
  return 0;
}

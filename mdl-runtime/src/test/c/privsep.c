/*
 * A server that is root, and a worker of it that gives up its rights, by the way that the argument names. The worker is taken over
 * then: it writes code to wherever it has the text of work() mapped for writing, by an address that it has found before. The code
 * makes a file, PWNED.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, CALLS = 100 };

__attribute__((noinline)) int work(int n) {
  __asm__ volatile("");
  return n * 3 + 1;
}

struct mapping {
  unsigned long start, end, offset, inode;
  char rights[5];
};

/* The n-th of the agent's. */
static int mapping(int n, struct mapping *found) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    if (strstr(line, "/memfd:mdl-text") && n-- == 0) {
      sscanf(line, "%lx-%lx %4s %lx %*s %lu", &found->start, &found->end, found->rights, &found->offset, &found->inode);
      fclose(maps);
      return 1;
    }
  }
  fclose(maps);
  return 0;
}

/* Where it could be written to. */
static unsigned char *writable_work(void) {
  struct mapping text, alias;
  unsigned long at = (unsigned long)work;
  for (int i = 0; mapping(i, &text); i++) {
    if (text.start <= at && at < text.end) {
      puts("the text is a copy");
      unsigned long offset = text.offset + (at - text.start);
      for (int k = 0; mapping(k, &alias); k++) {
        if (alias.rights[1] == 'w' && alias.inode == text.inode && alias.offset <= offset &&
            offset < alias.offset + (alias.end - alias.start)) {
          return (unsigned char *)(alias.start + (offset - alias.offset));
        }
      }
    }
  }
  return NULL;
}

static void *become_nobody(void *unused) {
  int failed = setgroups(0, NULL) + setresgid(NOBODY, NOBODY, NOBODY) + setresuid(NOBODY, NOBODY, NOBODY);
  return failed ? (void *)1 : unused;
}

static void give_up(const char *way) {
  pthread_t thread;
  void *failed = NULL;
  if (strcmp(way, "libc") == 0) {
    failed = become_nobody(NULL);
  } else if (strcmp(way, "syscall") == 0) {
    failed = (void *)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
  } else if (strcmp(way, "thread") == 0) {
    pthread_create(&thread, NULL, become_nobody, NULL);
    pthread_join(thread, &failed);
  } else if (strcmp(way, "strict") == 0) {
    failed = (void *)(long)prctl(PR_SET_SECCOMP, 1, 0, 0, 0);
  } else if (strcmp(way, "privileges") == 0) {
    failed = (void *)(long)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  } else {
    failed = (void *)(long)chroot("/proc");
  }
  if (failed) {
    syscall(SYS_exit, 9);
  }
}

static void serve(const char *way) {
  /* save the registers; open("PWNED", O_CREAT | O_WRONLY, 0644); restore them; return */
  static const unsigned char code[] = {0x50, 0x57, 0x56, 0x52, 0x51, 0x41, 0x53, 0x48, 0x8d, 0x3d, 0x1b, 0x00, 0x00, 0x00,
                                       0xbe, 0x41, 0x00, 0x00, 0x00, 0xba, 0xa4, 0x01, 0x00, 0x00, 0xb8, 0x02, 0x00, 0x00,
                                       0x00, 0x0f, 0x05, 0x41, 0x5b, 0x59, 0x5a, 0x5e, 0x5f, 0x58, 0xc3, 0x90, 0x90};
  unsigned char *at = writable_work();
  fflush(stdout);
  give_up(way);
  if (at) {
    memcpy(at + sizeof code, "PWNED", 6);
    memcpy(at, code, sizeof code);
  }
  syscall(SYS_exit, 0);
}

int main(int argc, char **argv) {
  int sum = 0, status = 0;
  if (argc < 2) {
    return 2;
  }
  for (int i = 0; i < CALLS; i++) {
    sum += work(i);
  }
  pid_t worker = fork();
  if (worker == 0) {
    serve(argv[1]);
  }
  waitpid(worker, &status, 0);
  for (int i = 0; i < CALLS; i++) {
    sum += work(i);
  }
  printf("master: done\n");
  return status == 0 && sum ? 0 : 1;
}

/*
 * A program that changes, between two looks of the agent at it, what the agent has seen: second_look WHAT. Its functions are called
 * CALLS times before and CALLS times after.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CALLS = 1000 };

__attribute__((noipa)) static int work(int value) { return value + 1; }

static int call(void) {
  int sum = 0;
  for (int i = 0; i < CALLS; i++) {
    sum += work(i);
  }
  return sum;
}

/* The current directory is a file system of its own. */
static int leave_directory(void) {
  char path[4096];
  return getcwd(path, sizeof path) && chdir("/") == 0 ? umount(path) : -1;
}

static int limit(int resource, rlim_t value) { return setrlimit(resource, &(struct rlimit){value, value}); }

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  int sum = call(), error = 0;
  if (strcmp(what, "unmounts proc") == 0) {
    error = umount2("/proc", MNT_DETACH);
  } else if (strcmp(what, "leaves its directory") == 0) {
    error = leave_directory();
  } else if (strcmp(what, "limits memory") == 0) {
    error = limit(RLIMIT_AS, 1 << 30) + limit(RLIMIT_DATA, 128 << 20) + limit(RLIMIT_CPU, 60);
  }
  if (strcmp(what, "limits memory") == 0 && count > 2) {
    execl(arguments[2], arguments[2], NULL); /* which is not there */
  }
  void *memory = malloc(16 << 20), *library = dlopen("libresolv.so.2", RTLD_NOW); /* whoever follows the dynamic linker looks again */
  sum += call();
  printf("%d %d %d %d\n", error, memory != NULL, library != NULL, sum);
  if (count > 2) {
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "ulimit -v; ulimit -d; ulimit -t", NULL);
  }
  return 5;
}

/*
 * Hides the agent's threads in the /proc files from which a program reads its thread count. The program gets an in-memory
 * copy of the kernel's text with the corrected number.
 *
 * Intercepts fopen, which the C++ library uses too: googletest counts threads before a death test, and Python at each fork.
 */
#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/next.h"
#include "os/self.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
  TEXT_MAX = 8192,
  TRIES = 1000, /* a thread that begins or ends may wait for a processor */
  TRY_NANOS = 100000,
  SPACES_BEFORE_COUNT = 18, /* in stat, after the name: proc(5), field 20 */
};

/* The thread count in the text of the file. */
static char *count_in(char *text, const char *name) {
  if (strcmp(name, "status") == 0) {
    static const char heading[] = "\nThreads:\t";
    char *found = strstr(text, heading);
    return found ? found + sizeof heading - 1 : NULL;
  }
  char *at = strrchr(text, ')'); /* the name may contain anything */
  for (int i = 0; at && i < SPACES_BEFORE_COUNT; i++) {
    at = strchr(at + 1, ' ');
  }
  return at ? at + 1 : NULL;
}

/* `stat` or `status` of this process, or NULL. */
static const char *own_file(const char *path) {
  static const char processes[] = "/proc/", self[] = "self";
  if (strncmp(path, processes, sizeof processes - 1) != 0) {
    return NULL;
  }
  const char *process = path + sizeof processes - 1, *name = strchr(process, '/');
  if (!name || (strcmp(name, "/stat") != 0 && strcmp(name, "/status") != 0)) {
    return NULL;
  }
  char *end;
  bool is_own = strncmp(process, self, sizeof self - 1) == 0 ? process + sizeof self - 1 == name
                                                             : strtol(process, &end, 10) == getpid() && end == name;
  return is_own ? name + 1 : NULL;
}

/* The file's text, empty if incomplete, and how many agent threads it counts: valid if their number is the same before and
 * after the read. */
static int read_with_agent(int file, char *text) {
  ssize_t length;
  int agents;
  for (int i = 0; i < TRIES; i++) {
    bool sure_before, sure;
    int before = agent_threads_counted(&sure_before);
    length = pread(file, text, TEXT_MAX, 0);
    agents = agent_threads_counted(&sure);
    if (sure_before && sure && before == agents) {
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = TRY_NANOS}, NULL);
  }
  text[length > 0 && length < TEXT_MAX ? length : 0] = 0;
  return agents;
}

/* The descriptor keeps its number, but refers to the corrected text. */
static void leave_agent_out(int file, const char *name) {
  char text[TEXT_MAX];
  int agents = read_with_agent(file, text);
  char *count = count_in(text, name);
  int copy = count ? memfd_create(name, MFD_CLOEXEC) : -1;
  if (copy < 0) {
    return;
  }
  char *rest;
  long threads = strtol(count, &rest, 10) - agents;
  threads = threads > 0 ? threads : 1;
  *count = 0;
  int flags = fcntl(file, F_GETFD);
  if (dprintf(copy, "%s%ld%s", text, threads, rest) > 0 && lseek(copy, 0, SEEK_SET) == 0) {
    dup3(copy, file, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
  }
  close(copy);
}

EXPORT FILE *fopen(const char *path, const char *mode) {
  FILE *file = next()->fopen(path, mode);
  const char *name = file ? own_file(path) : NULL;
  if (name && agent_threads_are_there()) {
    leave_agent_out(fileno(file), name);
  }
  return file;
}

EXPORT FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }

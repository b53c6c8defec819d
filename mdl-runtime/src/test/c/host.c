/* Opens and closes a library as its arguments tell, and calls what it exports. */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function)) static

typedef unsigned (*work)(unsigned);

QUIET void *open_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  return library;
}

QUIET work function_of(void *library, const char *name) {
  work function;
  *(void **)&function = dlsym(library, name);
  return function;
}

QUIET unsigned call(work function, unsigned times) {
  unsigned sum = 0;
  for (unsigned i = 0; i < times; i++) sum += function(i);
  return sum;
}

/* host cycles LIBRARY TIMES CALLS: as often opened, called and closed */
QUIET int cycles(char **arguments) {
  int times = atoi(arguments[1]);
  unsigned calls = (unsigned)atoi(arguments[2]), sum = 0;
  for (int i = 0; i < times; i++) {
    void *library = open_library(arguments[0]);
    sum += call(function_of(library, "work"), calls);
    if (dlclose(library) != 0) return 4;
  }
  printf("%u\n", sum);
  return 0;
}

/* host late LIBRARY: called until there is input, or its end; prints how often */
QUIET int late(char **arguments) {
  void *library = open_library(arguments[0]);
  work function = function_of(library, "work");
  struct pollfd input = {.fd = 0, .events = POLLIN};
  unsigned long calls = 0;
  do {
    call(function, 100);
    calls += 100;
  } while (poll(&input, 1, 0) == 0);
  printf("%lu\n", calls);
  return 0;
}

/* host family LIBRARY CALLS: opened by the parent and by a child after the fork */
QUIET int family(char **arguments) {
  unsigned calls = (unsigned)atoi(arguments[1]);
  int ready[2];
  if (pipe(ready)) return 5;
  pid_t child = fork();
  char byte = 0;
  void *library = NULL;
  if (child == 0) {
    if (read(ready[0], &byte, 1) != 1) return 6; /* the parent has opened it, where it may be in the child too */
    library = open_library(arguments[0]);
    unsigned sum = call(function_of(library, "work"), calls);
    dlclose(library);
    _exit(sum == call(function_of(open_library(arguments[0]), "work"), calls) ? 0 : 7);
  }
  library = open_library(arguments[0]);
  call(function_of(library, "work"), calls);
  if (write(ready[1], &byte, 1) != 1) return 8;
  call(function_of(library, "work"), calls);
  int status;
  waitpid(child, &status, 0);
  return status;
}

/* host inherited LIBRARY CYCLES CALLS: a child calls what it had at the fork while the parent closes and opens it, and
 * another function afterwards */
QUIET int inherited(char **arguments) {
  int times = atoi(arguments[1]);
  unsigned calls = (unsigned)atoi(arguments[2]);
  void *library = open_library(arguments[0]);
  work function = function_of(library, "work"), later = function_of(library, "later");
  unsigned expected = call(function, calls);
  int done[2];
  if (pipe(done)) return 5;
  pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    for (int i = 0; i < times; i++) {
      if (call(function, calls) != expected) _exit(9);
    }
    if (read(done[0], &byte, 1) != 1) _exit(6);
    call(later, calls);
    _exit(0);
  }
  for (int i = 0; i < times; i++) {
    dlclose(library);
    library = open_library(arguments[0]);
    if (call(function_of(library, "work"), calls) != expected) return 10;
  }
  if (write(done[1], &byte, 1) != 1) return 8;
  int status;
  waitpid(child, &status, 0);
  return status;
}

static struct {
  const char *path;
  int times;
} job;

QUIET void *cycle(void *result) {
  for (int i = 0; i < job.times; i++) {
    void *library = open_library(job.path);
    *(unsigned *)result += call(function_of(library, "work"), 50);
    dlclose(library);
  }
  return NULL;
}

/* host threads LIBRARY TIMES: opened, called and closed by four threads at once */
QUIET int threads(char **arguments) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  static unsigned sums[THREADS];
  unsigned sum = 0;
  job.times = atoi(arguments[1]);
  job.path = arguments[0];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, cycle, &sums[i]);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    sum += sums[i];
  }
  printf("%u\n", sum);
  return 0;
}

__attribute__((no_instrument_function)) int main(int count, char **arguments) {
  if (count < 3) return 2;
  const char *what = arguments[1];
  if (!strcmp(what, "cycles")) return cycles(arguments + 2);
  if (!strcmp(what, "late")) return late(arguments + 2);
  if (!strcmp(what, "family")) return family(arguments + 2);
  if (!strcmp(what, "inherited")) return inherited(arguments + 2);
  if (!strcmp(what, "threads")) return threads(arguments + 2);
  return 2;
}

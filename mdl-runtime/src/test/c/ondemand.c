// Reads lines: "open", "close", "spin", or how often to call functions of a library and of libc. Other threads compute with these
// functions all the time and check the results.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2 };

static const char *path;
static void *library;
static long (*twice)(long);
static long (*same)(long);
static long (*spin)(long);
static long (*pushes)(long, long (*)(long));
static atomic_int over;
static atomic_long wrong;

static void open_library(void) {
  library = dlopen(path, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  twice = (long (*)(long))dlsym(library, "twice");
  same = (long (*)(long))dlsym(library, "same");
  spin = (long (*)(long))dlsym(library, "spin");
  pushes = (long (*)(long, long (*)(long)))dlsym(library, "pushes");
}

static void call(long i) {
  pid_t parent = getppid();
  int *memory = malloc(sizeof *memory);
  *memory = (int)parent;
  long expected = 2 * (i + 0x54321) + 1;
  wrong += twice(i) != 2 * i + 0x12345 || same(i) != i + 0x54321 || pushes(i, same) != expected || *memory != getppid();
  free(memory);
}

static void *compute(void *unused) {
  for (long i = 0; !over; i++) {
    call(i);
  }
  return unused;
}

/* Threads, if there are any, only while the library is there. */
int main(int n, char **arguments) {
  char line[32];
  pthread_t threads[THREADS];
  int computing = n > 2 ? THREADS : 0;
  path = arguments[1];
  open_library();
  for (int i = 0; i < computing; i++) {
    pthread_create(&threads[i], NULL, compute, NULL);
  }
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (!strcmp(line, "open\n")) {
      open_library();
    } else if (!strcmp(line, "close\n")) {
      dlclose(library);
    } else if (!strcmp(line, "spin\n")) {
      spin(30000000);
    } else {
      for (long i = atol(line); i > 0; i--) {
        call(i);
      }
    }
    printf("done\n");
    fflush(stdout);
  }
  over = 1;
  for (int i = 0; i < computing; i++) {
    pthread_join(threads[i], NULL);
  }
  return wrong != 0;
}

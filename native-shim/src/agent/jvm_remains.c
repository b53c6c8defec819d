#include "agent/jvm_remains.h"

#include "os/gate.h"
#include "os/library.h"
#include "os/next.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIBRARIES_MAX = 64, ROUNDS_MAX = 64 };

struct remains {
  char directory[PATH_MAX]; /* of the runtime image, with a trailing slash */
  size_t length;
  const char *names[LIBRARIES_MAX]; /* owned by the dynamic linker */
  int count;
};

static int collect(struct dl_phdr_info *image, size_t size, void *result) {
  (void)size;
  struct remains *remains = result;
  char path[PATH_MAX];
  if (image->dlpi_name[0] == '/' && realpath(image->dlpi_name, path) &&
      strncmp(path, remains->directory, remains->length) == 0 && remains->count < LIBRARIES_MAX) {
    remains->names[remains->count++] = image->dlpi_name;
  }
  return 0;
}

/* A library may have been opened several times, and its dependents hold it too. False if it stays loaded. */
static bool close_all(const char *name) {
  char path[PATH_MAX]; /* copied, because unloading frees the name */
  snprintf(path, sizeof path, "%s", name);
  for (int i = 0; i < ROUNDS_MAX; i++) {
    void *library = next()->dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (!library) {
      return true;
    }
    next()->dlclose(library);
    if (next()->dlclose(library) != 0) {
      return false; /* still needed by others */
    }
  }
  return false;
}

/* None of their destructors runs, because process/environment.c did not register them. */
void jvm_remains_unload(void) {
  struct remains remains = {.count = 0};
  char directory[PATH_MAX + 32];
  snprintf(directory, sizeof directory, "%s/../runtime", library_directory);
  if (!realpath(directory, remains.directory)) {
    return;
  }
  strcat(remains.directory, "/");
  remains.length = strlen(remains.directory);
  gate_lock();
  for (int round = 0; round < LIBRARIES_MAX; round++) {
    remains.count = 0;
    next()->dl_iterate_phdr(collect, &remains);
    bool some_gone = false;
    for (int i = remains.count - 1; i >= 0 && !some_gone; i--) { /* unloading changes the list */
      some_gone = close_all(remains.names[i]);
    }
    if (!some_gone) {
      break;
    }
  }
  gate_unlock();
}

/* Opens a library beside the executable, calls it and closes it, twice. */
#include "counted.h"

#include <dlfcn.h>

PROBED int use_library(const char *path) {
  COUNTED;
  void *library = dlopen(path, RTLD_NOW);
  if (!library) return 1;
  int status = ((int (*)(void))dlsym(library, "library_main"))();
  return dlclose(library) | status;
}

int main(int count, char **arguments) {
  COUNTED;
  char path[4096];
  snprintf(path, sizeof path, "%.4000s.so", arguments[0]);
  return use_library(path) | use_library(path);
}

#include "os/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

char library_directory[PATH_MAX];

bool library_is_relative(void) {
  Dl_info info;
  return dladdr((void *)&library_directory, &info) && info.dli_fname[0] != '/';
}

void library_find_directory(void) {
  char path[PATH_MAX];
  Dl_info info;
  if (!dladdr((void *)&library_directory, &info) || !realpath(info.dli_fname, path)) {
    return;
  }
  char *slash = strrchr(path, '/');
  if (slash) {
    *slash = 0;
    strcpy(library_directory, path);
  }
}

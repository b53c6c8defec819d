/* A Java source that is written: DIRECTORY/PACKAGE/CLASS.java. Exits if that is not possible. */
#ifndef MDL_JAVA_SOURCE_H
#define MDL_JAVA_SOURCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static inline void source_failed(const char *path) {
  perror(path);
  exit(1);
}

/* Creates the directories of a path. */
static inline void source_directories(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0777);
    *slash = '/';
  }
}

static inline FILE *source_open(const char *directory, const char *package, const char *class_name, const char *from) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/", directory);
  snprintf(path + length, sizeof path - (size_t)length, "%s/%s.java", package, class_name);
  for (char *dot = path + length; dot < path + length + strlen(package); dot++) {
    *dot = *dot == '.' ? '/' : *dot;
  }
  source_directories(path);
  FILE *file = fopen(path, "w");
  if (!file) {
    source_failed(path);
  }
  fprintf(file, "// Generated from %s: do not edit.\npackage %s;\n\n", from, package);
  return file;
}

static inline void source_close(FILE *file) {
  if (ferror(file) | fclose(file)) {
    source_failed("writing Java sources");
  }
}

#endif

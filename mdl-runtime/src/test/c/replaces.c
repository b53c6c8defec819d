/* A library of a program: before the agent starts, it replaces the file OLD by NEW as HOW tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void replace(void) {
  const char *how = getenv("HOW"), *old = getenv("OLD"), *new = getenv("NEW");
  char aside[4096];
  if (!how || !old || !new) return;
  if (!strcmp(how, "deleted")) {
    if (unlink(old)) _exit(90);
    return;
  }
  if (!strcmp(how, "moved aside")) {
    snprintf(aside, sizeof aside, "%s.old", old);
    if (rename(old, aside)) _exit(91);
  }
  if (rename(new, old)) _exit(92);
}

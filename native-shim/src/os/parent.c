#include "os/parent.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char variable[] = "LD_PRELOAD=", library[] = "/libmdlagent.so";

/* The start of an entry of an environment that is read in pieces. */
struct entry {
  char text[PATH_MAX];
  size_t length;
};

/* Takes the next byte; true if it ends the wanted entry. */
static bool take(struct entry *entry, char byte) {
  if (byte) {
    if (entry->length < sizeof entry->text - 1) {
      entry->text[entry->length++] = byte;
    }
    return false;
  }
  entry->text[entry->length] = 0;
  entry->length = 0;
  return strncmp(entry->text, variable, sizeof variable - 1) == 0 && strstr(entry->text, library);
}

bool parent_has_library(void) {
  char path[32], piece[4096];
  struct entry entry = {.length = 0};
  bool found = false;
  snprintf(path, sizeof path, "/proc/%d/environ", getppid());
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  for (ssize_t length; !found && (length = read(file, piece, sizeof piece)) > 0;) {
    for (ssize_t i = 0; !found && i < length; i++) {
      found = take(&entry, piece[i]);
    }
  }
  close(file);
  return found;
}

#include "os/process_stat.h"

#include "os/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE = 3 };

/* `text` has at least 1 byte. */
static const char *field_of(pid_t process, int number, char *text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, process);
  read_text(path, text, capacity);
  const char *at = strrchr(text, ')'); /* the name may contain anything */
  for (int field = STATE; at && field <= number; field++) {
    at = strchr(at + 1, ' ');
  }
  return at ? at + 1 : "";
}

uint64_t process_stat_number(pid_t process, int field) {
  char text[1024];
  return strtoull(field_of(process, field, text, sizeof text), NULL, 10);
}

char process_stat_state(pid_t process) {
  char text[1024];
  return *field_of(process, STATE, text, sizeof text);
}

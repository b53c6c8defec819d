#include "os/process_stat.h"

#include "os/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE = 3 };

const char *process_stat_field(const char *text, int field) {
  const char *at = strrchr(text, ')'); /* the name may contain anything */
  for (int number = STATE; at && number <= field; number++) {
    at = strchr(at + 1, ' ');
  }
  return at ? at + 1 : "";
}

static void read_stat(pid_t process, char *text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, process);
  read_text(path, text, capacity);
}

uint64_t process_stat_number(pid_t process, int field) {
  char text[1024];
  read_stat(process, text, sizeof text);
  return strtoull(process_stat_field(text, field), NULL, 10);
}

char process_stat_state(pid_t process) {
  char text[1024];
  read_stat(process, text, sizeof text);
  return *process_stat_field(text, STATE);
}

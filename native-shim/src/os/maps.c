#include "os/maps.h"

#include "os/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/* What a line starts with. */
static bool parse(const char *line, struct mapping *mapping) {
  uint64_t values[2] = {0};
  mapping->line = line;
  for (int i = 0; i < 2; i++, line++) {
    const char *first = line;
    for (; *line != (i == 0 ? '-' : ' '); line++) {
      unsigned char c = (unsigned char)*line;
      unsigned digit = c >= '0' && c <= '9' ? c - (unsigned)'0' : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10 : 16;
      if (digit == 16) {
        return false;
      }
      values[i] = values[i] << 4 | digit;
    }
    if (line == first) {
      return false;
    }
  }
  mapping->start = values[0];
  mapping->end = values[1];
  return true;
}

bool maps_open(struct maps *maps) {
  maps->filled = maps->at = 0;
  maps->file = (int)raw_syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  return maps->file >= 0;
}

bool maps_next(struct maps *maps, struct mapping *mapping) {
  for (;;) {
    char *line = maps->text + maps->at, *end = memchr(line, '\n', maps->filled - maps->at);
    if (end) {
      *end = 0;
      maps->at = (size_t)(end - maps->text) + 1;
      return parse(line, mapping);
    }
    maps->filled -= maps->at;
    memmove(maps->text, line, maps->filled);
    maps->at = 0;
    long count = raw_syscall(SYS_read, maps->file, maps->text + maps->filled, sizeof maps->text - maps->filled);
    if (count <= 0) {
      return false;
    }
    maps->filled += (size_t)count;
  }
}

void maps_close(struct maps *maps) { raw_syscall(SYS_close, maps->file); }

const char *maps_path(const struct mapping *mapping) {
  const char *at = mapping->line;
  for (int field = 0; field < 5; field++) { /* addresses, rights, offset, device, inode */
    at += strcspn(at, " ");
    at += strspn(at, " ");
  }
  return at;
}

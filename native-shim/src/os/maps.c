#include "os/maps.h"

#include "os/sys.h"

#include <fcntl.h>
#include <linux/types.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* The start of a line. */
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

/* ---- one mapping */

/* struct procmap_query of linux/fs.h, since Linux 6.11: takes 1 us, independent of the number of mappings. */
struct query {
  uint64_t size, flags, address; /* asked */
  uint64_t start, end, rights, page_size, offset, inode;
  uint32_t major, minor;
  uint32_t name_size, build_id_size;
  uint64_t name, build_id;
};
#define PROCMAP_QUERY _IOWR('f', 17, struct query)
enum { QUERY_READABLE = 1, QUERY_WRITABLE = 2, QUERY_EXECUTABLE = 4, QUERY_SHARED = 8 };

static uint64_t device_of(uint64_t major, uint64_t minor) { return major << 32 | minor; }

static bool query_backing(int file, uint64_t address, struct backing *backing) {
  struct query query = {.size = sizeof query, .address = address};
  if (raw_syscall(SYS_ioctl, file, PROCMAP_QUERY, &query) != 0) {
    return false;
  }
  *backing = (struct backing){
      .start = query.start,
      .end = query.end,
      .offset = query.offset,
      .device = device_of(query.major, query.minor),
      .inode = query.inode,
      .readable = query.rights & QUERY_READABLE,
      .writable = query.rights & QUERY_WRITABLE,
      .executable = query.rights & QUERY_EXECUTABLE,
      .shared = query.rights & QUERY_SHARED,
  };
  return true;
}

/* A number in this base, and its terminator. */
static uint64_t number_at(const char **at, unsigned base) {
  uint64_t value = 0;
  for (;; (*at)++) {
    unsigned char c = (unsigned char)**at;
    unsigned digit = c >= '0' && c <= '9' ? c - (unsigned)'0' : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10 : base;
    if (digit >= base) {
      break;
    }
    value = value * base + digit;
  }
  if (**at) {
    (*at)++;
  }
  return value;
}

static struct backing backing_of(const struct mapping *mapping) {
  struct backing backing = {.start = mapping->start, .end = mapping->end};
  const char *at = strchr(mapping->line, ' ');
  if (at && strlen(at) > 6) { /* " r-xp " */
    backing.readable = at[1] == 'r';
    backing.writable = at[2] == 'w';
    backing.executable = at[3] == 'x';
    backing.shared = at[4] == 's';
    at += 6;
    backing.offset = number_at(&at, 16);
    uint64_t major = number_at(&at, 16);
    backing.device = device_of(major, number_at(&at, 16));
    backing.inode = number_at(&at, 10);
  }
  return backing;
}

bool maps_backing(uint64_t address, struct backing *backing) {
  struct maps maps;
  struct mapping mapping;
  if (!maps_open(&maps)) {
    return false;
  }
  bool found = query_backing(maps.file, address, backing);
  while (!found && maps_next(&maps, &mapping) && mapping.start <= address) {
    if (address < mapping.end) {
      *backing = backing_of(&mapping);
      found = true;
    }
  }
  maps_close(&maps);
  return found;
}

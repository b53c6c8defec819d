/* The mappings of this process, as the kernel lists them: without malloc, stdio and locks. */
#ifndef MDL_MAPS_H
#define MDL_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
  uint64_t start, end;
  const char *line; /* ends with 0; until the next one is asked for */
};

struct maps {
  int file;
  size_t filled, at;
  char text[PATH_MAX + 256];
};

/* False when they cannot be read: no more calls then. */
bool maps_open(struct maps *maps);
/* False when there is none any more. */
bool maps_next(struct maps *maps, struct mapping *mapping);
void maps_close(struct maps *maps);
/* The file that is mapped, "" for memory without a name. */
const char *maps_path(const struct mapping *mapping);

/* What the file behind a mapping is, and what may be done there. */
struct backing {
  uint64_t start, end, offset; /* `offset` of `start` in the file */
  uint64_t device, inode;      /* `inode` 0: no file */
  bool readable, writable, executable, shared;
};

/* Of the mapping that holds `address`. False when there is none, or the kernel does not say. */
bool maps_backing(uint64_t address, struct backing *backing);

#endif

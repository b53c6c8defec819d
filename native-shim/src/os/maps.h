/* Reads /proc/self/maps without malloc, stdio or locks. */
#ifndef MDL_MAPS_H
#define MDL_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
  uint64_t start, end;
  const char *line; /* NUL-terminated; valid until the next maps_next() */
};

struct maps {
  int file;
  size_t filled, at;
  char text[PATH_MAX + 256];
};

/* False if the file cannot be read; then make no further calls. */
bool maps_open(struct maps *maps);
/* False at the end. */
bool maps_next(struct maps *maps, struct mapping *mapping);
void maps_close(struct maps *maps);
/* The path of the mapped file, "" for anonymous memory. */
const char *maps_path(const struct mapping *mapping);

/* The file behind a mapping, and its access rights. */
struct backing {
  uint64_t start, end, offset; /* `offset` of `start` in the file */
  uint64_t device, inode;      /* inode 0: no file */
  bool readable, writable, executable, shared;
};

/* The mapping that contains `address`. False if there is none, or if the kernel does not tell. */
bool maps_backing(uint64_t address, struct backing *backing);

#endif

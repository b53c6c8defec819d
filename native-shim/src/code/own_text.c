/*
 * Text that a copy may take the place of. A program may change its text at any time, by system calls of its own: map huge pages
 * over it, write to it, load another file there. What it is about to write to must not become a copy that nobody can write to, and
 * what it has written must not be replaced by older bytes.
 *
 * So text is replaced only where all of it is a private mapping of one file, which nobody may write to, and while both the file and
 * the bytes are those that were copied. Bytes are compared before rights, because rights are what the program changes first: one that
 * begins to change its text within the microsecond between the look at the rights and the mapping is not recognised.
 */
#include "code/own_text.h"

#include "os/maps.h"

#include <stddef.h>
#include <string.h>

#define PRIME 0x9E3779B97F4A7C15ULL

static uint64_t mixed(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * PRIME;
  return sum ^ sum >> 29;
}

/* Several sums side by side: a multiplication takes longer than a read. */
static uint64_t sum_of(const void *contents, uint64_t length) {
  enum { LANES = 8 };
  uint64_t lanes[LANES], words[LANES];
  for (int i = 0; i < LANES; i++) {
    lanes[i] = (uint64_t)i;
  }
  for (uint64_t at = 0; at < length; at += sizeof words) {
    memcpy(words, (const char *)contents + at, sizeof words);
    for (int i = 0; i < LANES; i++) {
      lanes[i] = mixed(lanes[i], words[i]);
    }
  }
  uint64_t sum = length;
  for (int i = 0; i < LANES; i++) {
    sum = mixed(sum, lanes[i]);
  }
  return sum;
}

/* Of the file and the place in it, 0 when it is not all one file's, or not for good. */
static uint64_t mark_of_file(uint64_t start, uint64_t length) {
  struct backing first = {.start = 0}, next;
  for (uint64_t at = start; at < start + length; at = next.end) {
    if (!maps_backing(at, &next) || !next.inode || !next.readable || next.writable || !next.executable || next.shared) {
      return 0;
    }
    next.offset += at - next.start;
    next.start = at;
    if (at == start) {
      first = next;
    } else if (next.device != first.device || next.inode != first.inode || next.offset != first.offset + (at - start)) {
      return 0;
    }
  }
  return mixed(mixed(mixed(PRIME, first.device), first.inode), first.offset);
}

uint64_t own_text_mark(uint64_t start, uint64_t length, const void *contents) {
  uint64_t sum = sum_of(contents, length);
  uint64_t file = mark_of_file(start, length);
  return file ? mixed(sum, file) | 1 : 0;
}

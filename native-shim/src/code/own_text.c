/*
 * Checks whether a copy may replace text. A program may change its text at any time by its own system calls: map huge pages
 * over it, write to it, map another file there. Text that it is about to write to must not become a read-only copy, and text
 * that it has written must not be replaced by older bytes.
 *
 * So text is replaced only if all of it is a private, non-writable mapping of one file, and both the file and the bytes are
 * those that were copied. Bytes are compared before access rights, because a program changes the rights first. A program
 * that starts to change its text in the microsecond between the check of the rights and the mapping is not detected.
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

/* Several independent sums, because a multiplication takes longer than a read. */
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

/* Hash of the file and the offset; 0 if the text is not entirely a stable mapping of one file. */
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

/* A cursor over copied bytes of an unwind table. */
#ifndef MDL_CFI_BYTES_H
#define MDL_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Longer expressions are not evaluated. */
enum { EXPRESSION_BYTES = 256 };

/* All reads are bounded; a read beyond the end sets `failed` and yields 0. */
struct cursor {
  const uint8_t *next, *end;
  uint64_t address; /* of `end`, in the program */
  bool failed;
};

static inline bool take(struct cursor *from, void *to, size_t length) {
  if ((size_t)(from->end - from->next) < length) {
    from->failed = true;
    from->next = from->end;
    memset(to, 0, length);
    return false;
  }
  memcpy(to, from->next, length);
  from->next += length;
  return true;
}

static inline uint64_t address_of(const struct cursor *at) { return at->address - (uint64_t)(at->end - at->next); }

static inline uint8_t u8(struct cursor *from) {
  uint8_t value;
  take(from, &value, sizeof value);
  return value;
}

static inline uint16_t u16(struct cursor *from) {
  uint16_t value;
  take(from, &value, sizeof value);
  return value;
}

static inline uint32_t u32(struct cursor *from) {
  uint32_t value;
  take(from, &value, sizeof value);
  return value;
}

static inline uint64_t u64(struct cursor *from) {
  uint64_t value;
  take(from, &value, sizeof value);
  return value;
}

static inline uint64_t uleb(struct cursor *from) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint8_t byte = u8(from);
    value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
    if (!(byte & 0x80)) {
      return value;
    }
  }
}

static inline int64_t sleb(struct cursor *from) {
  uint64_t value = 0;
  for (unsigned shift = 0;;) {
    uint8_t byte = u8(from);
    value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
    shift += 7;
    if (!(byte & 0x80)) {
      return (int64_t)(byte & 0x40 && shift < 64 ? value | ~0ULL << shift : value);
    }
  }
}

static inline void skip(struct cursor *from, uint64_t length) {
  if ((uint64_t)(from->end - from->next) < length) {
    from->failed = true;
    from->next = from->end;
  } else {
    from->next += length;
  }
}

#endif

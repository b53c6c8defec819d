#include "code/demangle.h"

#include <errno.h>
#include <string.h>

/* From libsupc++.a, linked statically and hidden: emits the name piece by piece and does not allocate. Returns 0 if the
 * symbol does not follow the Itanium C++ ABI, 3.4. __cxa_demangle would first build the whole name, which may take
 * gigabytes for a symbol of 300 bytes: each substitution of the ABI can double it. */
int __gcclibcxx_demangle_callback(const char *symbol, void (*piece)(const char *, size_t, void *), void *name);

struct name {
  char *text;
  size_t capacity;
  size_t length;
  void *full[5]; /* jump target if there is no room: the demangler cannot be stopped otherwise */
};

static void append(const char *piece, size_t length, void *of) {
  struct name *name = of;
  if (length >= name->capacity - name->length) {
    __builtin_longjmp(name->full, 1);
  }
  memcpy(name->text + name->length, piece, length);
  name->length += length;
}

int64_t demangle(const char *symbol, char *out, int64_t capacity) {
  struct name name = {.text = out, .capacity = (size_t)capacity};
  if (capacity <= 0 || __builtin_setjmp(name.full)) {
    return -ERANGE;
  }
  if (__gcclibcxx_demangle_callback(symbol, append, &name) != 0) {
    return -EINVAL;
  }
  out[name.length] = 0;
  return (int64_t)name.length;
}

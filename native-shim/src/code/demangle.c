#include "code/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Itanium C++ ABI, 3.4: from libsupc++.a, linked in and hidden. */
char *__cxa_demangle(const char *symbol, char *buffer, size_t *length, int *status);

int64_t demangle(const char *symbol, char *out, int64_t capacity) {
  int status;
  char *name = __cxa_demangle(symbol, NULL, NULL, &status);
  if (!name) {
    return status == -1 ? -ENOMEM : -EINVAL;
  }
  size_t length = strlen(name);
  int64_t result = -ERANGE;
  if (length < (size_t)capacity) {
    memcpy(out, name, length + 1);
    result = (int64_t)length;
  }
  free(name);
  return result;
}

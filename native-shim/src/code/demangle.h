/* C++ names. */
#ifndef MDL_DEMANGLE_H
#define MDL_DEMANGLE_H

#include <stdint.h>

/* Stores the demangled, NUL-terminated form of a symbol in `out`. Returns its length; -EINVAL if the symbol is not a
 * mangled name; -ERANGE if the result exceeds `capacity` bytes, which also bounds the time. See api.h. */
int64_t demangle(const char *symbol, char *out, int64_t capacity);

#endif

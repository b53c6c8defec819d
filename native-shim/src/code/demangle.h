/* C++ names. */
#ifndef MDL_DEMANGLE_H
#define MDL_DEMANGLE_H

#include <stdint.h>

/* Puts the demangled form of a symbol, with a 0 behind it, into `out`. Returns its length; -EINVAL if the symbol is no mangled
 * name; -ERANGE if the form does not fit into `capacity` bytes, which also bounds the time. See api.h. */
int64_t demangle(const char *symbol, char *out, int64_t capacity);

#endif

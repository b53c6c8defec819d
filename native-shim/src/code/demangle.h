/* C++ names. See api.h. */
#ifndef MDL_DEMANGLE_H
#define MDL_DEMANGLE_H

#include <stdint.h>

int64_t demangle(const char *symbol, char *out, int64_t capacity);

#endif

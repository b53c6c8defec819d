/* Reads the names of JIT-compiled code. See api.h. */
#ifndef MDL_PERF_MAP_H
#define MDL_PERF_MAP_H

#include <stdint.h>

int64_t perf_map_read(int64_t pid, char *text, int64_t capacity);

#endif

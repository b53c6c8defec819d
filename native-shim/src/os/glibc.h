/*
 * Weak references to functions that only some versions of glibc have. With strong references, a program of another libc
 * (musl) would not start with the library preloaded. In such a program the agent does not start, none of these is called,
 * and the program's calls are passed on.
 */
#ifndef MDL_GLIBC_H
#define MDL_GLIBC_H

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#pragma weak gnu_get_libc_version
#pragma weak on_exit
#pragma weak dladdr1
#pragma weak dlvsym
#pragma weak strerrorname_np

static inline bool glibc_is_here(void) { return gnu_get_libc_version != NULL; }

#endif

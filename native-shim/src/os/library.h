/* The directory of libmdlagent.so. Files that the agent loads are beside it. */
#ifndef MDL_LIBRARY_H
#define MDL_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

extern char library_directory[PATH_MAX]; /* "" while unknown */

/* Whether the dynamic linker has a relative path of it, which breaks when the application changes its directory. */
bool library_is_relative(void);
void library_find_directory(void);

#endif

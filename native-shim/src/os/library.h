/* Where libmdlagent.so is: what it loads stands beside it. */
#ifndef MDL_LIBRARY_H
#define MDL_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

extern char library_directory[PATH_MAX]; /* "" while it is not known */

/* Whether the dynamic linker knows it by a relative path, which leads elsewhere when the application changes its directory. */
bool library_is_relative(void);
void library_find_directory(void);

#endif

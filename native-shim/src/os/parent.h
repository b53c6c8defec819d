/* The parent process. */
#ifndef MDL_PARENT_H
#define MDL_PARENT_H

#include <stdbool.h>

/* Whether the parent was started with the library, according to its environment. */
bool parent_has_library(void);

#endif

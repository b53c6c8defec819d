/* The process that has executed this one. */
#ifndef MDL_PARENT_H
#define MDL_PARENT_H

#include <stdbool.h>

/* Whether it was started with the library, as far as its environment shows. */
bool parent_has_library(void);

#endif

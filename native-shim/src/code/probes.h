/* Whether compilers have left probes in the program that runs. */
#ifndef MDL_PROBES_H
#define MDL_PROBES_H

#include <stdbool.h>

/* In an image that is loaded now. Also true where only a long look could tell. */
bool probes_are_loaded(void);

#endif

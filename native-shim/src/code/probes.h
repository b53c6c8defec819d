/* Whether the running program has compiler-made probe sites. */
#ifndef MDL_PROBES_H
#define MDL_PROBES_H

#include <stdbool.h>

/* In any loaded image. Also true if only a full scan could tell. */
bool probes_are_loaded(void);

#endif

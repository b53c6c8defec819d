/* Properties of the program's ELF file. */
#ifndef MDL_PROGRAM_H
#define MDL_PROGRAM_H

#include <stdbool.h>

/* Whether the program has a Go build id. */
bool program_is_go(void);

#endif

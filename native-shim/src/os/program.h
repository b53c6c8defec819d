/* The program as its linker has left it. */
#ifndef MDL_PROGRAM_H
#define MDL_PROGRAM_H

#include <stdbool.h>

/* Whether Go's linker has left its build id. */
bool program_is_go(void);

#endif

/* Makes generated code known to unwinders and debuggers. */
#ifndef MDL_UNWIND_H
#define MDL_UNWIND_H

#include <stdint.h>

/* See api.h, trampolines. */
int64_t unwind_trampolines(uint64_t start, uint64_t length, uint64_t header);

/* In a relative: of all that the agent has made known so far. */
void unwind_join(void);

#endif

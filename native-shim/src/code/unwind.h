/* Registers generated code with unwinders and debuggers. */
#ifndef MDL_UNWIND_H
#define MDL_UNWIND_H

#include <stdint.h>

/* See api.h, trampolines. */
int64_t unwind_trampolines(uint64_t start, uint64_t length, uint64_t header);

/* Address of the .eh_frame_hdr of generated code, 0 if there is none. */
uint64_t unwind_header(uint64_t address);

/* In a relative: registers everything that the agent has registered so far. */
void unwind_join(void);

#endif

/*
 * Call paths of threads of this program, from their registers and a copy of the top of their stacks. Uses the call frame
 * information of images and of the agent's trampolines; trampolines are unwound but not reported.
 *
 * Tables are read in place by process_vm_readv(2), which fails if they have been unmapped meanwhile. Rows are cached by
 * address. Used by the agent's thread only.
 */
#ifndef MDL_UNWINDER_H
#define MDL_UNWINDER_H

#include "code/cfi.h"

struct stack_sample {
  uint64_t registers[CFI_REGISTERS]; /* 0: unknown, if `few` */
  bool few;                          /* only RSP and the instruction are known: a frame pointer is searched for */
  const uint8_t *bytes;              /* of the stack, from the stack pointer on */
  uint64_t length;
};

/* A frame of a path. */
struct stack_frame {
  uint64_t address; /* of the instruction; for a call, of its last byte */
  uint64_t start;   /* of the code range of its unwind description, usually a function; 0 if there is none */
  uint64_t bias;    /* load bias of the image */
  bool ours;        /* code of the agent; only the innermost frame can be */
};

/* Where a path ends. STACK_WHOLE: at the thread's first function. STACK_UNKNOWN: in code without usable unwind tables.
 * STACK_CUT: the copy of the stack, or the room for frames, is too small. */
enum stack_end { STACK_WHOLE, STACK_UNKNOWN, STACK_CUT };

/* Call before the other functions, and whenever images may have been loaded or unloaded. True if any were. */
bool unwinder_refresh(void);

/* Returns the number of frames. */
size_t unwinder_walk(const struct stack_sample *sample, struct stack_frame *frames, size_t capacity, enum stack_end *end);

#endif

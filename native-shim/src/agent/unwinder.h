/*
 * Call paths of threads of this program, from their registers and a copy of the top of their stacks: by the call frame information
 * of images, and by that of the agent's trampolines, which are passed through and left out.
 *
 * Tables are read where the program has them, by process_vm_readv(2), which fails where they have been unmapped meanwhile. Rows
 * are kept by address. Used by the agent's thread alone.
 */
#ifndef MDL_UNWINDER_H
#define MDL_UNWINDER_H

#include "code/cfi.h"

struct stack_sample {
  uint64_t registers[CFI_REGISTERS];
  const uint8_t *bytes; /* of the stack, from its pointer on */
  uint64_t length;
};

/* Who is there, innermost first. */
struct stack_frame {
  uint64_t address; /* of the instruction; of one that calls, of its last byte */
  uint64_t start;   /* of the code that one description is for, as a rule a function's; 0 where there is none */
  uint64_t bias;    /* of the image: what its addresses are more than at link time */
  bool ours;        /* code of the agent: the innermost frame alone can be */
};

/* Where a path ends. STACK_WHOLE: at a thread's beginning. STACK_UNKNOWN: in code without unwind tables, or with such as are not
 * understood. STACK_CUT: the stack goes on beyond what was copied of it, or the path is longer than there is room for. */
enum stack_end { STACK_WHOLE, STACK_UNKNOWN, STACK_CUT };

/* To be called before others, and whenever images may have come or gone. Whether there were any such. */
bool unwinder_refresh(void);

/* How many frames there are. */
size_t unwinder_walk(const struct stack_sample *sample, struct stack_frame *frames, size_t capacity, enum stack_end *end);

#endif

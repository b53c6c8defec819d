/* Where the calling thread's own stack is. */
#ifndef MDL_STACK_H
#define MDL_STACK_H

#include <stdint.h>

/* The stack that the calling thread was given, [low, high): the one that holds `here`, where its program runs, should it be
 * another. */
struct stack {
  uint64_t low, high;
};
struct stack stack_of_thread(uint64_t here);

#endif

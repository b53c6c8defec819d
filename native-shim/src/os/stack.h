/* The calling thread's stack. */
#ifndef MDL_STACK_H
#define MDL_STACK_H

#include <stdint.h>

/* The stack [low, high) that contains `here`: the thread's own stack, or one to which the program has switched. */
struct stack {
  uint64_t low, high;
};
struct stack stack_of_thread(uint64_t here);

#endif

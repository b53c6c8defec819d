/* What every provider must cope with, in one program. As a library its main is library_main. */
#define DEPTH 5000

#define main recursion
#include "recursion.c"
#undef main
#define main tails
#include "tails.c"
#undef main
#define main varargs
#include "varargs.c"
#undef main
#define main stack_arguments
#include "stack_arguments.c"
#undef main
#define main results
#include "results.c"
#undef main
#define main jumps
#include "jumps.c"
#undef main
#define main allocas
#include "allocas.c"
#undef main
#define main pointers
#include "pointers.c"
#undef main
#define main threads
#include "threads.c"
#undef main

#ifdef LIBRARY
#define main library_main
#endif

PROBED int main(void) {
  COUNTED;
  return recursion() | tails() | varargs() | stack_arguments() | results() | jumps() | allocas() | pointers() | threads();
}

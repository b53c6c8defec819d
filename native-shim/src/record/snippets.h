/* What snippets ask for: the thread's values, and calls of functions of the program. */
#ifndef MDL_SNIPPETS_H
#define MDL_SNIPPETS_H

#include <stdint.h>

/* The calling thread's values, made if need be; NULL when there is no memory, or the thread records nothing. */
uint64_t *snippets_values(void);
/* Arguments that a snippet's call of a function can have. */
#define SNIPPET_ARGUMENTS 6
struct snippet_result {
  uint64_t result;
  uint64_t *values; /* of the thread that goes on; NULL when nothing was called */
};
/* Calls a function of the program for a snippet, unless the thread is in such a call. */
struct snippet_result snippets_call(uint64_t function, const uint64_t arguments[SNIPPET_ARGUMENTS]);

#endif

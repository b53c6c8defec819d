/* Services for snippets: the thread's values, and calls of the program's functions. */
#ifndef MDL_SNIPPETS_H
#define MDL_SNIPPETS_H

#include <stdint.h>

/* The calling thread's values, allocated on demand; NULL if out of memory, or if the thread records nothing. */
uint64_t *snippets_values(void);
/* Maximum number of arguments of a snippet's call. */
#define SNIPPET_ARGUMENTS 6
struct snippet_result {
  uint64_t result;
  uint64_t *values; /* of the thread that continues; NULL if nothing was called */
};
/* Calls a function of the program for a snippet, unless the thread is in such a call. */
struct snippet_result snippets_call(uint64_t function, const uint64_t arguments[SNIPPET_ARGUMENTS]);

#endif

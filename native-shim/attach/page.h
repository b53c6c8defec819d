/*
 * The pages that the injector puts into the target: one of code, one of data, and a stack.
 */
#ifndef MDL_PAGE_H
#define MDL_PAGE_H

#include <stdint.h>

enum {
  PAGE_CODE = 0,
  PAGE_DATA = 4096,
  PAGE_TEXT_MAX = 16384, /* bytes of all texts, which follow struct page_data */
};

enum page_state { PAGE_IDLE, PAGE_RUNS, PAGE_NO_LIBRARY, PAGE_NO_FUNCTION, PAGE_DONE };

/* Read and written by page.S. */
struct page_data {
  uint64_t dlopen, dlsym, dlerror, pthread_detach;
  uint64_t thread;             /* pthread_t */
  uint64_t library, function;  /* texts */
  uint64_t argument;           /* of the function */
  uint64_t adopt;              /* text, or 0; then the address of that function of the library, or 0 */
  uint64_t error;              /* text of dlerror, with PAGE_NO_LIBRARY and PAGE_NO_FUNCTION */
  int64_t result;              /* of the function, with PAGE_DONE */
  uint64_t state;              /* enum page_state; stored last */
};

/* The new thread's routine: position-independent; its argument is the struct page_data. */
extern const uint8_t page_routine[], page_routine_end[];

#endif

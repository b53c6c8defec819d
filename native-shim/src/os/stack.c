/*
 * The calling thread's stack. Looked up once for each thread, in a probe: so without malloc, which may be probed itself, and
 * without pthread_getattr_np, which calls malloc.
 */
#include "os/stack.h"

#include "os/maps.h"
#include "os/self.h"
#include "os/sys.h"

#include <sys/resource.h>

/* The mapping that contains `address`, and the next one below it. */
static bool find(uint64_t address, struct mapping *found, struct mapping *below) {
  struct maps maps;
  bool is_found = false;
  *below = (struct mapping){0, 0, NULL};
  if (!maps_open(&maps)) {
    return false;
  }
  while (maps_next(&maps, found) && address >= found->end) {
    *below = *found;
  }
  is_found = address >= found->start && address < found->end;
  maps_close(&maps);
  return is_found;
}

extern void *__libc_stack_end __attribute__((weak)); /* os/glibc.h */

/* Limit of the stack's size. */
static uint64_t most_bytes(void) { return self_stack_bytes ? self_stack_bytes : kernel_limit(RLIMIT_STACK); }

static bool holds(const struct mapping *mapping, uint64_t address) {
  return address >= mapping->start && address < mapping->end;
}

struct stack stack_of_thread(uint64_t here) {
  uint64_t thread_pointer = (uintptr_t)__builtin_thread_pointer();
  uint64_t bytes = most_bytes();
  struct mapping mapping, below;
  if (find(here, &mapping, &below)) {
    if (thread_pointer > here && holds(&mapping, thread_pointer)) {
      /* libc puts the thread control block on top of the stack. The mapping may include neighbours. */
      uint64_t low = thread_pointer > bytes ? thread_pointer - bytes : 0;
      return (struct stack){low > mapping.start ? low : mapping.start, thread_pointer};
    }
    if (holds(&mapping, (uintptr_t)__libc_stack_end)) {
      /* The first thread's stack grows to its limit or to the mapping below. */
      uint64_t low = mapping.end > bytes ? mapping.end - bytes : 0;
      return (struct stack){low > below.end ? low : below.end, mapping.end};
    }
  }
  return (struct stack){here, here}; /* a coroutine's or a signal handler's */
}

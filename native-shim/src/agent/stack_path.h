/* Call paths from copied stacks: unwinds them and looks up the frames of their addresses. Used by the agent's thread only. */
#ifndef MDL_STACK_PATH_H
#define MDL_STACK_PATH_H

#include "agent/unwinder.h"

#include <mdl/api.h>
#include <sys/types.h>

/* How much is copied of a stack: the working stack of sqlite3's shell is 8.3 KB deep, so perf's default of 8 KB would cut every
 * path. */
enum { STACK_BYTES = 16 << 10 };

struct stack_path {
  const uint32_t *frames; /* innermost first, at least one; valid until the next path */
  size_t length;
  uint64_t address; /* of the innermost instruction, less the bias of its image */
  enum stack_end end;
};

/* Stores the path's addresses without a frame in `unknown`, and returns how many; 0: the path is complete. `pid`: process whose
 * stack it is. */
int64_t stack_path(const struct stack_sample *stack, pid_t pid, struct mdl_pc_place *unknown, int64_t capacity,
                   struct stack_path *path);

#endif

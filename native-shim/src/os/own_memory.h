/*
 * What the agent has mapped in the program's process. The program may lock all of its memory (mlockall): the agent's is left out,
 * what is mapped later too. Lock-free, since threads map their stacks of frames in probes.
 */
#ifndef MDL_OWN_MEMORY_H
#define MDL_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct span {
  uint64_t start, end;
};

/* Whether a forked child has it: what stays behind may be the program's own there. */
enum own_memory_kind { INHERITED, STAYS };

/* As mmap(), and noted; neither locked nor populated when the program has locked what it maps in the future. */
void *own_memory_map(void *at, size_t bytes, int protection, int flags, int file, off_t offset, enum own_memory_kind kind);
int own_memory_unmap(void *at, size_t bytes);
/* What libc has mapped for the agent, and for nobody else; and not any more. A forked child has it for itself. */
void own_memory_note(uint64_t start, uint64_t end);
void own_memory_forget(uint64_t start, uint64_t end);
/* Of the memory in [start, end), the first part that is not noted as the agent's; empty when all is. */
struct span own_memory_gap(uint64_t start, uint64_t end);
/* Whether a part of it is noted. */
bool own_memory_has(uint64_t start, uint64_t end);

/* From now on, or not any more, the kernel locks what anybody in this process maps. */
void own_memory_future_locked(bool locked);
bool own_memory_is_future_locked(void);

/* In a forked child: what has stayed behind may be the program's, and nothing is locked. */
void own_memory_forked(void);

#endif

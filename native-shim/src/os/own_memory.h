/*
 * The agent's mappings in the program's process. When the program locks all of its memory (mlockall), these are left out,
 * later ones included. Lock-free, because threads map their frame stacks in probes.
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

/* Whether a forked child inherits the mapping. In a child, addresses of a mapping that STAYS, or is OF_JVM, may become the
 * program's. OF_JVM: used by the JVM's code alone. */
enum own_memory_kind { INHERITED, STAYS, OF_JVM };

/* mmap(), and notes the mapping. It is neither locked nor populated under mlockall(MCL_FUTURE). */
void *own_memory_map(void *at, size_t bytes, int protection, int flags, int file, off_t offset, enum own_memory_kind kind);
int own_memory_unmap(void *at, size_t bytes);
/* Notes memory that libc has mapped for the agent alone; removes the note. A forked child owns such memory itself. */
void own_memory_note(uint64_t start, uint64_t end);
void own_memory_forget(uint64_t start, uint64_t end);
/* The first part of [start, end) that is not noted as the agent's; empty if all of it is. */
struct span own_memory_gap(uint64_t start, uint64_t end);
/* Whether any part of it is noted. */
bool own_memory_has(uint64_t start, uint64_t end);

/* Gives the JVM's memory back to the system; the address space stays taken. No thread may execute the JVM's code any more. */
void own_memory_discard_jvm(void);

/* Whether the kernel locks future mappings of this process (mlockall(MCL_FUTURE)). */
void own_memory_future_locked(bool locked);
bool own_memory_is_future_locked(void);

/* In a forked child: drops notes of mappings that STAY; memory locks are not inherited. */
void own_memory_forked(void);

#endif

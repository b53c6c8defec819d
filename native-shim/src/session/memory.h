/*
 * The session's memory: the session file, mapped. It grows by populating pages (MADV_POPULATE_WRITE), not through a descriptor:
 * application threads grow it too, and have none. A store to memory that session_allocate() has given out never faults for
 * want of memory.
 */
#ifndef MDL_MEMORY_H
#define MDL_MEMORY_H

#include <mdl/layout.h>
#include <stdbool.h>

extern struct mdl_header *session; /* NULL until there is one */

/* The file grows by multiples of it. */
enum { SESSION_STEP = 128 << 10 };

/* 0 when there is no memory. Async-signal-safe. */
uint64_t session_allocate(uint64_t bytes);
/*
 * From now on what this process writes there is its own: nobody else sees it, whatever it is made to write. It still sees what
 * others write on pages that it leaves alone. By a descriptor of the session file, -1 when there is none: then it sees nothing of
 * others. `shared`: how far from here the memory that the family shares is, for the last time. False when it could not be done.
 */
bool session_go_apart(int file, int64_t *shared);
/* Ends the last time. */
void session_let_go(int64_t shared);
/* What the slot leads to, made if need be, 0 when there is no memory. A handler may make it meanwhile: its memory stays. */
uint64_t session_allocate_once(uint64_t *slot, uint64_t bytes);
/* Whether this kernel populates pages. */
bool session_can_grow(void);
/* There is none any more. It stays mapped, for the locks in it that threads hold. */
void session_forget(void);

#endif

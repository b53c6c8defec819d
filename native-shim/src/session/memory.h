/*
 * The session's memory: the mapped session file. It grows by populating pages (MADV_POPULATE_WRITE), because application
 * threads grow it too and have no descriptor. A store to memory from session_allocate() never faults for lack of memory.
 */
#ifndef MDL_MEMORY_H
#define MDL_MEMORY_H

#include <mdl/layout.h>
#include <stdbool.h>

extern struct mdl_header *session; /* NULL until there is a session */

/* The file grows by multiples of this. */
enum { SESSION_STEP = 128 << 10 };

/* 0 if out of memory. Async-signal-safe. */
uint64_t session_allocate(uint64_t bytes);
/*
 * Makes this process's mapping private: no other process sees its later writes, whatever an attacker makes it write. It
 * still sees other processes' writes on pages that it has not written to, unless `file`, a descriptor of the session file,
 * is -1. Sets `shared` to the distance of the family's shared memory, which stays mapped until session_let_go(). False on
 * failure.
 */
bool session_go_apart(int file, int64_t *shared);
/* Unmaps the family's shared memory. */
void session_let_go(int64_t shared);
/* What *slot points to, allocated on first use; 0 if out of memory. If a signal handler allocates it meanwhile, the
 * handler's memory wins. */
uint64_t session_allocate_once(uint64_t *slot, uint64_t bytes);
/* Whether this kernel populates pages. */
bool session_can_grow(void);
/* The session ends here. It stays mapped, because threads hold locks in it. */
void session_forget(void);

#endif

/* Robust locks in the session's memory: if the holder has died, another thread can take the lock. */
#ifndef MDL_OWNER_H
#define MDL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

void owner_create(uint64_t *owner);
/* Does not block. */
bool owner_take(uint64_t *owner);
void owner_release(uint64_t *owner);
/* Whether it has no living holder. */
bool owner_is_gone(const uint64_t *owner);
/* Whether the calling thread holds it. */
bool owner_is_self(const uint64_t *owner);

#endif

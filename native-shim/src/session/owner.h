/* Locks in the session's memory that whoever finds their holder gone can take. */
#ifndef MDL_OWNER_H
#define MDL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

void owner_create(uint64_t *owner);
/* Does not wait. */
bool owner_take(uint64_t *owner);
void owner_release(uint64_t *owner);
/* Whether nobody holds it. */
bool owner_is_gone(const uint64_t *owner);
/* Whether the calling thread does. */
bool owner_is_self(const uint64_t *owner);

#endif

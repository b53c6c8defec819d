/* The GOT words through which the program calls its libraries' functions. See api.h. */
#ifndef MDL_IMPORTS_H
#define MDL_IMPORTS_H

#include <stdint.h>

uint64_t imports_find(const char *symbol, const char *version);
int64_t imports_exchange(const uint64_t *change, int64_t is_read_only);
/* Reverts changes in a child that was forked before the agent was ready (code/shown_text.h). */
void imports_take_back(void);

#endif

/* The recorder switches sites: api.h's toggle. */
#ifndef MDL_TOGGLE_H
#define MDL_TOGGLE_H

#include <stdint.h>

/* The recorder's wish for these sites, by their numbers: how many it changed, 0 once the agent is dead. */
int64_t code_toggle(const uint32_t *sites, int64_t n, int64_t on);

#endif

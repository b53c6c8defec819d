/* Whether the agent is dead. What it takes to die, and why sites stay off then: code/death.c, which alone says so. */
#ifndef MDL_LIFE_H
#define MDL_LIFE_H

#include <stdbool.h>

bool agent_is_dead(void);
/* It is dead from now on: whether it was not before. A locked instruction. */
bool life_ends(void);

#endif

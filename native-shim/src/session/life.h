/* Whether the agent is dead. code/death.c explains when it dies and why sites then stay off, and is the only caller of
 * life_ends(). */
#ifndef MDL_LIFE_H
#define MDL_LIFE_H

#include <stdbool.h>

bool agent_is_dead(void);
/* Marks it dead; true if it was alive. One locked instruction. */
bool life_ends(void);

#endif

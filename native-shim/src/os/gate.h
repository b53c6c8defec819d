/* The gate: the loader's state, and whatever else a forked child could find half changed, is changed with it held. */
#ifndef MDL_GATE_H
#define MDL_GATE_H

#include <stdbool.h>

void gate_lock(void);
/* For a second at most: this thread may be inside dlopen, in a constructor, and hold what the holder waits for. */
bool gate_lock_soon(void);
void gate_unlock(void);
/* In a forked child: open. */
void gate_forked(void);

#endif

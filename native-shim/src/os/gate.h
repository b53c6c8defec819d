/* The gate: a lock held during every change of the loader's state, and of any other state that a fork must not copy half
 * changed. */
#ifndef MDL_GATE_H
#define MDL_GATE_H

#include <stdbool.h>

void gate_lock(void);
/* Waits for at most one second: this thread may run a constructor inside dlopen, and hold a lock that the gate's holder
 * waits for. */
bool gate_lock_soon(void);
void gate_unlock(void);
/* In a forked child: opens the gate. */
void gate_forked(void);

#endif

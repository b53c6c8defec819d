/* Per-thread values, written by generated code (org.mdlagent.arch.snippet). */
#ifndef MDL_VALUES_H
#define MDL_VALUES_H

#include <mdl/layout.h>

/* The calling thread has taken the block. */
void values_begin(struct mdl_thread *thread);
/* The thread gives up the block: ends its running timers. */
void values_end(struct mdl_thread *thread);

#endif

/* Values of threads, which generated code writes (org.mdlagent.arch.snippet). */
#ifndef MDL_VALUES_H
#define MDL_VALUES_H

#include <mdl/layout.h>

/* The calling thread has taken the block. */
void values_begin(struct mdl_thread *thread);
/* It gives it up: what runs for it ends. */
void values_end(struct mdl_thread *thread);

#endif

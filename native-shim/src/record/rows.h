/* Rows: each function's calls in a thread, added up. Exact and mixed mode. */
#ifndef MDL_ROWS_H
#define MDL_ROWS_H

#include <mdl/layout.h>

void record_in_row(struct mdl_thread *thread, const struct mdl_function *function, uint64_t ticks, uint64_t self,
                   uint32_t weight);

#endif

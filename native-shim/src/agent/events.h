/* Kernel counters of threads. See api.h. */
#ifndef MDL_KERNEL_EVENTS_H
#define MDL_KERNEL_EVENTS_H

#include <stdint.h>

int64_t events_open(uint64_t event, int64_t tid, int64_t reach);
int64_t events_read(int64_t descriptor);
void events_close(int64_t descriptor);
int64_t events_threads(int64_t pid, uint32_t *out, int64_t capacity);

#endif

/* Where threads are whenever they have taken some CPU time. See api.h. */
#ifndef MDL_PC_SAMPLES_H
#define MDL_PC_SAMPLES_H

#include <stdint.h>

int64_t pc_samples_open(int64_t tid, uint64_t period_nanos);
int64_t pc_samples_read(int64_t sampler, uint64_t *out, int64_t capacity);
void pc_samples_close(int64_t sampler);

#endif

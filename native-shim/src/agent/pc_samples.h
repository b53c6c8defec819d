/* Samples of program counters and call paths by CPU time, or at each event of another kind. See api.h. */
#ifndef MDL_PC_SAMPLES_H
#define MDL_PC_SAMPLES_H

#include <mdl/api.h>
#include <mdl/layout.h>
#include <stdint.h>

/* process: the thread's process; -ESRCH if it has ended or executed another program. */
void pc_samples_choose(uint64_t event);
int64_t pc_samples_open(int64_t tid, uint64_t period, const struct mdl_process *process);
int64_t pc_samples_switch(int64_t on);
int64_t pc_samples_take(struct mdl_pc_place *unknown, int64_t capacity, int64_t weight);

#endif

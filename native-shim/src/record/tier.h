/*
 * Functions with a mean (mdl_function.mean): every call is counted while their entries are on, and of a mean above 1 each is
 * timed by chance, with the probability 1 / mean, whatever calls were timed before. So those that are timed are like all
 * others. What one of them stands for is the function's weight: `mean` calls, or more where its entries are on for a part of
 * the time.
 *
 * A thread counts its calls of the function down to the next that is timed (mdl_countdown). The agent may change the mean at
 * any time, while the function runs:
 *
 * Assumes    A1 the thread alone counts down, and draws; a handler on it may do so between any two instructions, and is
 *               finished when the interrupted code goes on
 * Guarantees G1 the weight of a call is the one that the function had when its countdown was drawn, for the mean of that
 *               time, so a sum of weights estimates the calls while both change
 *            G2 where a duration goes was decided when its call began, and stands in its frame (mdl_frame.weight)
 *
 *   agent                                     thread
 *   1 store the weight and the mean           1 left > 1: count down (one instruction), the call is not timed
 *   2 store 0 to the countdowns of all        2 else the weight is countdown.weight; 0: the call is not timed
 *     threads                                 3 store the function's weight and the next interval
 *
 * A thread's step 1 may undo the agent's step 2 for `left`, and its step 3 both: then the old countdown runs out first. It
 * does not matter to G1, only to how soon the new mean holds.
 */
#ifndef MDL_TIER_H
#define MDL_TIER_H

#include <mdl/layout.h>

/* Of a call that begins: how many it stands for, 0 when it is not timed. */
uint32_t tier_weight(struct mdl_thread *thread, const struct mdl_function *function, uint32_t mean);

/* The thread's next interval is another one from now on. */
void tier_draw(struct mdl_thread *thread);

#endif

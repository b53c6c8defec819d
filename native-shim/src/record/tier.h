/*
 * Functions with a mean (mdl_function.mean): every call is counted while the entries are on. Each call is timed with the
 * probability 1 / mean, independently of earlier calls, so the timed calls are a random sample. A timed call represents
 * `weight` calls: `mean`, or more if the entries are on for a part of the time only.
 *
 * A thread counts down the calls to the next timed one (mdl_countdown). The agent may change the mean while the function runs:
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
 * A thread's step 1 may undo the agent's step 2 for `left`, and its step 3 both. Then the old countdown runs out first: the new
 * mean takes effect later, and G1 holds.
 */
#ifndef MDL_TIER_H
#define MDL_TIER_H

#include <mdl/layout.h>

/* Maximum weight of a call. */
enum { TIER_WEIGHT_MAX = 1 << 24 };

/* The weight of a call that begins; 0: the call is not timed. */
uint32_t tier_weight(struct mdl_thread *thread, const struct mdl_function *function, uint32_t mean);

/* Draws the thread's next interval. */
void tier_draw(struct mdl_thread *thread);

#endif

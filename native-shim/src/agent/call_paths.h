/*
 * Call paths in the session file, and how often each was sampled (struct mdl_pc_samples): a tree, whose nodes are found by their
 * parents and frames; and which frame an address belongs to. Used by the agent's thread alone.
 *
 * What is in the file is written and not read here: other processes may have changed it.
 */
#ifndef MDL_CALL_PATHS_H
#define MDL_CALL_PATHS_H

#include <mdl/api.h>
#include <mdl/layout.h>
#include <stdbool.h>

/* The frames that there always are. */
enum { FRAME_ELSEWHERE, FRAME_PROBES, FRAME_CUT };

/* Makes the table, if there is none in this process. False when there is no memory. */
bool call_paths_open(uint64_t period_nanos);

/* See api.h: pc_frame, pc_place, pc_forget. */
int64_t call_paths_frame(const struct mdl_pc_frame *frame);
void call_paths_place(uint64_t address, int64_t frame, int64_t outer);
void call_paths_forget(void);

/* The frames of an address, the innermost first: how many, 0 when nobody has told. */
enum { FRAMES_OF_ADDRESS = 2 };
size_t call_paths_frames_at(uint64_t address, uint32_t frames[FRAMES_OF_ADDRESS]);

/* Adds a sample of a path, `weight` times. `frames`: the innermost first, at least one. */
void call_paths_add(const uint32_t *frames, size_t count, uint64_t weight);
void call_paths_add_lost(uint64_t samples);
/* Of a sample that has been added: why the outer part of its path is not there. */
void call_paths_add_cut(uint64_t weight);
void call_paths_add_without_table(uint64_t weight);

#endif

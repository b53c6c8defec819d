/*
 * Call paths in the session file with their sample counts (struct mdl_pc_samples): a tree whose nodes are looked up by
 * parent and frame. Also maps addresses to frames, and logs single samples with their threads. Used by the agent's thread only.
 *
 * The file is written but never read here, because other processes may have changed it.
 */
#ifndef MDL_CALL_PATHS_H
#define MDL_CALL_PATHS_H

#include <mdl/api.h>
#include <mdl/layout.h>
#include <stdbool.h>

/* The predefined frames. */
enum { FRAME_ELSEWHERE, FRAME_PROBES, FRAME_CUT };

/* Creates the table, if this process has none. False if out of memory. `event`: enum perf_sw_ids. */
bool call_paths_open(uint64_t period, uint64_t event);

/* See api.h: pc_frame, pc_place, pc_forget. */
int64_t call_paths_frame(const struct mdl_pc_frame *frame);
void call_paths_place(uint64_t address, int64_t frame, int64_t outer);
void call_paths_forget(void);

/* The frames of an address, innermost first. Returns their number, 0 if they are unknown. */
enum { FRAMES_OF_ADDRESS = 2 };
size_t call_paths_frames_at(uint64_t address, uint32_t frames[FRAMES_OF_ADDRESS]);

/* What is known of one sample beside its path. */
struct sample_facts {
  uint64_t address; /* of the instruction, less the bias of its image */
  uint64_t nanos;   /* when it was taken, by CLOCK_MONOTONIC */
  int32_t tid, pid;
};

/* The number of a path, 0 where there is no room for it. `frames`: innermost first, at least one. */
uint32_t call_paths_node(const uint32_t *frames, size_t count);
/* Adds time that a thread was off the processors on a path. */
void call_paths_add_wait(uint32_t node, uint64_t nanos);

/* Counts a sample of a path, `weight` times, adds its path and logs it. `frames`: innermost first, at least one. */
void call_paths_add(const uint32_t *frames, size_t count, const struct sample_facts *facts, uint64_t weight);
/*
 * The two parts of it for samples that come as two: one in its innermost frame, which is counted, and one with its path, which
 * may be missing.
 */
void call_paths_count_of(int32_t tid, uint32_t frame, uint64_t weight);
void call_paths_add_path_of(const uint32_t *frames, size_t count, const struct sample_facts *facts, uint64_t weight);
/* Adds counted samples that have no path to the path that was last added of their thread and frame; without one, to the frame
 * alone. Paths may come before they are counted, but not be missing then. */
void call_paths_settle(void);
void call_paths_add_lost(uint64_t samples);
/* Notes why the outer part of an added sample's path is missing. */
void call_paths_add_cut(uint64_t weight);
void call_paths_add_without_table(uint64_t weight);

#endif

/*
 * The file that a process records into after it has given up rights (agent/border.c). The process can write to nothing else that
 * other processes read. The process with the agent reads the file as foreign bytes and adds the counts to the process's blocks in the
 * session (record/apart_calls.c). Readers of the session see these blocks only.
 *
 * It is a file of its own and not a part of the session's, because a shared mapping of a part of a file gives access to all of the
 * file (mremap, remap_file_pages).
 *
 * Assumes    A1 the kernel marks the robust mutexes of a thread that has ended (session/family.c)
 * Guarantees G1 the process can write to no pointer, index or length that another process follows unchecked
 *            G2 counters in the file only grow. Counts that the agent has not read yet are lost only when the agent is killed
 *            G3 children of the process do not write to the file
 *
 *   the process, before the border             the agent, five times a second
 *   1 create and map the file                  1 open the file, compare its inode with 3, read it
 *   2 take a spare block; number the blocks    2 add to the blocks by how much the counters have grown
 *   3 store the inode in the process's record  3 when the process has ended: remove the file, and hand the blocks and the
 *   4 map the session privately: from now on     record on as those of a process that was killed
 *     the agent alone changes the blocks
 *   5 switch the blocks to the file's tables
 *
 * Not in the file: rings (callers, last calls), values of metrics, threads beyond the spare block, children.
 */
#ifndef MDL_APART_H
#define MDL_APART_H

#include <mdl/layout.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The head. Rows and chunks follow, up to APART_ROOM, then the tables: for each block `calls` and `rows` as in struct mdl_thread.
 * Pointers are addresses in the process. */
struct apart {
  uint64_t owner[5]; /* as in struct mdl_process; unlocked if main has ended, or another thread has crossed the border */
  uint64_t base;     /* address in the process */
  _Atomic uint64_t next; /* offset of the next free byte */
  _Atomic uint32_t threads_refused;
  _Atomic uint32_t forks;
  _Atomic uint64_t calls_refused; /* calls that are counted but not timed: no room for a row or its histogram */
};
enum { APART_ROOM = 1 << 20, APART_TABLES = 16 };

static inline uint64_t apart_table_bytes(uint32_t capacity) { return 2 * sizeof(uint64_t) * capacity; }

enum { APART_NAME = 600 };
void apart_name(char *name, uint32_t pid);

/* Steps 1 to 3. False if there is no file: the process will not be counted. */
bool apart_prepare(void);
/* Undoes them. */
void apart_abandon(void);
/* Step 5. */
void apart_enter(void);

/* Memory for rows: from the session, after step 5 from the file. 0 when there is none. Async-signal-safe. */
uint64_t apart_allocate(uint64_t bytes);
/* As session_allocate_once(). */
uint64_t apart_allocate_once(uint64_t *slot, uint64_t bytes);

/* After step 5: counts a thread without a table, and a fork. */
void apart_refuses_thread(void);
void apart_forks(void);
/* After step 5: counts a call of a thread with a table, for whose duration the file has no room. Async-signal-safe. */
void apart_refuses_call(void);
/* Main ends and other threads do not. */
void apart_leader_ends(void);
/* In the forked child. */
void apart_forked(void);
/* The session has been abandoned. */
void apart_forget(void);

#endif

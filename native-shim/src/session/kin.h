/*
 * Memory that a process and its forked children share before they have a session: from the first fork on, or from the
 * agent's start.
 *
 * A family has one agent, in the oldest process that lives when the start delay ends. A process that was forked before the
 * probes were in place gets them later (agent/relatives.c), from the notes made here.
 *
 * Assumes    A1 the kernel marks the robust mutexes of a thread that is gone (session/family.c)
 * Guarantees G1 at most one process has the agent. When that process has ended, one without probes can take it
 *            G2 a fork that has a copy of kin_has_probes in which it is false is counted in `early` before the agent reads that
 *
 *   the forking process                       the agent, when the probes are in place
 *   1 kin_has_probes false: early++ (locked)  1 kin_has_probes = true
 *   2 fork                                    2 fence, read early; 0: no child will ask
 *                                             3 state = READY
 *
 * G2: an `early++` that step 2 does not read comes after it, so the fork does, and has a copy of what step 1 wrote.
 */
#ifndef MDL_KIN_H
#define MDL_KIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum kin_state { KIN_STARTING = 0, KIN_READY = 1, KIN_OVER = 2 };
/* Code memory; its unwind descriptions; text of an image that a copy has replaced. */
enum kin_kind { KIN_CODE = 1, KIN_FRAMES = 2, KIN_TEXT = 3 };

struct kin_piece {
  uint64_t start, length;
  uint64_t at;    /* code and text: offset in the code file; frames: address of their header */
  uint64_t image; /* text: identifies the image and its content (code/libraries.c) */
  uint64_t kind;  /* enum kin_kind */
};

enum { KIN_PIECES = 8192 };

/* The session file and the code file. */
enum { KIN_SESSION, KIN_CODE_MEMORY, KIN_FILES };

struct kin_file {
  int64_t descriptor;
  uint64_t device, inode;
};

struct kin {
  uint64_t agent[5]; /* pthread_mutex_t, robust: held by the agent's thread */
  _Atomic uint32_t state; /* enum kin_state */
  _Atomic uint32_t early; /* forks before the probes were in place */
  _Atomic uint32_t agent_pid;
  _Atomic uint32_t unprobed; /* processes forked before the probes were in place that never get them */
  _Atomic uint32_t pieces; /* including pieces that found no room */
  uint32_t pid, tid;       /* of the agent's thread, to open the files below through /proc */
  struct kin_file file[KIN_FILES];
  uint64_t session, session_bytes;
  uint64_t alias, alias_bytes; /* of the code file */
  struct kin_piece piece[KIN_PIECES];
};

extern struct kin *kin; /* NULL while no memory is shared */
/* This process has the probes, and so do its forked children. */
extern _Atomic bool kin_has_probes;

/* Pieces that this process has: noted by itself or inherited by fork. */
extern uint32_t kin_noted;

/* False when there is no memory. */
bool kin_meet(void);
/* Claims the agent for the calling thread, which must live as long as the agent. True if it succeeded. */
bool kin_take_agent(void);
/* Whether this process has claimed the agent. */
bool kin_has_agent(void);
/* The agent ended before it was ready; no process retries. */
void kin_agent_failed(void);
/* Adds to the number of processes that stay without probes. */
void kin_go_without(uint32_t processes);
/* Replaces the shared memory by a private copy: for a process that has no agent threads any more and will not be trusted.
 * Other threads may be reading it. */
void kin_forget(void);
/* The same for a process that keeps its agent, or waits for one: processes that it forks from now on are its only kin.
 * False if out of memory. */
bool kin_separate(void);
/* The same for a process that has forgotten its kin and will have new kin. */
void kin_begin_anew(void);
extern bool kin_are_left; /* this process has given up rights (agent/border.c) */
extern _Atomic bool kin_is_separate; /* kin_separate() has run in this process */
/* The number of pieces that found room. */
uint32_t kin_pieces(void);
/* By the agent, before it is ready. */
void kin_note(enum kin_kind kind, uint64_t start, uint64_t length, uint64_t at, uint64_t image);

#endif

/*
 * What a process and those that it forks know of each other before they have a session: memory that they share from the first
 * fork on, or from when the agent begins.
 *
 * A family has one agent. It is in the oldest process that lives when the start delay is over. A process that was forked before
 * the probes were in place has none, and gets them later (agent/relatives.c), by what is written down here.
 *
 * Assumes    A1 the kernel marks the robust mutexes of a thread that is gone (session/family.c)
 * Guarantees G1 at most one process has the agent. When it is gone, one that has no probes yet can take it
 *            G2 a fork that has a copy of kin_has_probes in which it is false is counted in `early` before the agent reads that
 *
 *   whoever forks                             the agent, when the probes are in place
 *   1 kin_has_probes false: early++ (locked)  1 kin_has_probes = true
 *   2 fork                                    2 fence, read early: 0, nobody will ask
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
/* Code memory; frame descriptions of it, for unwinders; text of an image, in whose place a copy stands. */
enum kin_kind { KIN_CODE = 1, KIN_FRAMES = 2, KIN_TEXT = 3 };

struct kin_piece {
  uint64_t start, length;
  uint64_t at;    /* code and text: offset in the file of code; frames: their header */
  uint64_t image; /* text: which image's, and what it says (code/libraries.c) */
  uint64_t kind;  /* enum kin_kind */
};

enum { KIN_PIECES = 8192 };

/* The session, and the code memory. */
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
  _Atomic uint32_t unprobed; /* processes that were forked before the probes were in place, and stay without */
  _Atomic uint32_t pieces; /* those that found no room included */
  uint32_t pid, tid;       /* of the agent's thread that has the files below, as /proc says */
  struct kin_file file[KIN_FILES];
  uint64_t session, session_bytes;
  uint64_t alias, alias_bytes; /* of the file of code */
  struct kin_piece piece[KIN_PIECES];
};

extern struct kin *kin; /* NULL while there is nothing to share */
/* This process has the probes, so those that it forks have them. */
extern _Atomic bool kin_has_probes;

/* Pieces that this process has, since it or whoever has forked it has noted them. */
extern uint32_t kin_noted;

/* False when there is no memory. */
bool kin_meet(void);
/* True when the calling thread, which lives as long as the agent, has the agent from now on. */
bool kin_take_agent(void);
/* Whether this process has taken it. */
bool kin_has_agent(void);
/* The agent has ended before it was ready, and nobody tries again. */
void kin_agent_failed(void);
/* So many processes stay without probes. */
void kin_go_without(uint32_t processes);
/* What others write there from now on is not seen here, nor the other way round: by a process that has no threads of the agent any
 * more, and will not be trusted. Other threads may be reading it. */
void kin_forget(void);
/* The same for one that goes on with its agent, or waits for one: those that it forks from now on are its kin, and no others. False
 * when there is no memory. */
bool kin_separate(void);
/* The same for one that has forgotten its kin, and will have others. */
void kin_begin_anew(void);
extern bool kin_are_left; /* since this process has given up rights (agent/border.c) */
extern _Atomic bool kin_is_separate; /* since that has happened in this process */
/* Of them, those that found room. */
uint32_t kin_pieces(void);
/* By the agent, before it is ready. */
void kin_note(enum kin_kind kind, uint64_t start, uint64_t length, uint64_t at, uint64_t image);

#endif

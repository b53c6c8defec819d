/* The calling thread's block, from its first probe to its end. */
#ifndef MDL_THREAD_H
#define MDL_THREAD_H

#include "os/self.h"

#include <mdl/layout.h>
#include <signal.h>
#include <stdbool.h>

/* mdl_thread.in_client of threads that never call clients. */
#define NO_CLIENTS (~0u)

/* The block of threads that record nothing: the agent's, those that found no memory, those that are ending. */
extern struct mdl_thread mute_thread;
extern bool record_from_birth; /* threads are known before they call anything */

/* Gives the calling thread, which has none, its block. */
struct mdl_thread *record_attach(void);
/* The application is about to filter its system calls: what the calling thread needs for recording from then on, it gets now. */
void record_prepare(void);
/* At its end. */
void record_detach(void);
void record_mute_thread(void);
/* The calling thread is about to forbid itself the time-stamp counter, for good. Calls that run return, and are not recorded. */
void record_without_clock(void);
/* In a forked child: its thread has no block. */
void record_forked(void);
/* mdl_thread.born of this process. */
uint64_t record_born(void);
/* A stack is in use that may lie inside the calling thread's own, where no order of addresses says what is gone then. */
void record_other_stack(const void *low);

/* The calling thread's block, made if need be; NULL when it records nothing. */
static inline struct mdl_thread *record_thread(void) {
  struct mdl_thread *thread = mdl_self;
  if (__builtin_expect(thread == NULL, 0)) {
    thread = record_attach();
  }
  return thread == &mute_thread ? NULL : thread;
}

/* The same, but none is made. */
static inline struct mdl_thread *record_known_thread(void) {
  struct mdl_thread *thread = mdl_self;
  return thread == &mute_thread ? NULL : thread;
}

/*
 * What the shim does for itself between these is none of the program's calls, though functions of libc have probes. Probes in
 * a handler that comes in between do not count either: signals are blocked.
 */
struct record_pause {
  sigset_t signals;
  struct mdl_thread *thread;
};

struct record_pause record_pause(void);
void record_resume(const struct record_pause *pause);

#endif

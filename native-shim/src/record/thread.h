/* The calling thread's block, from the thread's first probe to its end. */
#ifndef MDL_THREAD_H
#define MDL_THREAD_H

#include "os/self.h"

#include <mdl/layout.h>
#include <signal.h>
#include <stdbool.h>

/* mdl_thread.in_client of threads that never call clients. */
#define NO_CLIENTS (~0u)

/* The block of threads that record nothing: agent threads, threads without memory, ending threads. */
extern struct mdl_thread mute_thread;
extern bool record_from_birth; /* threads get their block before they call any function */

/* Creates the calling thread's block. */
struct mdl_thread *record_attach(void);
/* Call before the application filters its system calls: allocates everything that the calling thread needs to record
 * afterwards. */
void record_prepare(void);
/* At its end. */
void record_detach(void);
void record_mute_thread(void);
/* The calling thread is about to disable RDTSC for itself permanently. Running calls return unrecorded. */
void record_without_clock(void);
/* In a forked child, whose thread has no block. */
void record_forked(void);
/* mdl_thread.born of this process. */
uint64_t record_born(void);
/* A stack in use may lie inside the calling thread's own; addresses then do not show which calls have ended. */
void record_other_stack(const void *low);

/* The calling thread's block, created on demand; NULL if the thread records nothing. */
static inline struct mdl_thread *record_thread(void) {
  struct mdl_thread *thread = mdl_self;
  if (__builtin_expect(thread == NULL, 0)) {
    thread = record_attach();
  }
  return thread == &mute_thread ? NULL : thread;
}

/* The same without creating one. */
static inline struct mdl_thread *record_known_thread(void) {
  struct mdl_thread *thread = mdl_self;
  return thread == &mute_thread ? NULL : thread;
}

/*
 * Between these the shim's own calls of probed libc functions are not recorded. Signals are blocked, so no handler's calls
 * are missed.
 */
struct record_pause {
  sigset_t signals;
  struct mdl_thread *thread;
};

struct record_pause record_pause(void);
void record_resume(const struct record_pause *pause);

#endif

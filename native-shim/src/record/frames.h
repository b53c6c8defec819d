/* The calling thread's shadow stack: calls between hooks, which tell of entries and exits and have no words on the stack. */
#ifndef MDL_FRAMES_H
#define MDL_FRAMES_H

#include "record/interruptible.h"

#include <mdl/layout.h>
#include <stdbool.h>
#include <stddef.h>

/* The block gets one, of the calling process's memory; false when there is none. It is given back with nothing on it. */
bool frames_create(struct mdl_thread *thread, uint64_t here);
void frames_destroy(struct mdl_thread *thread);

/* A frame for a call that begins now. There is room for it. */
void record_push(struct mdl_thread *thread, struct mdl_function *function, uint64_t key, uint32_t weight);
/* The frame that the exit of `function` from `key` closes, on top when this returns; NULL when it is not there. Frames
 * of calls that cannot be running any more, since their stack frames lie below, are discarded on the way. */
struct mdl_frame *record_frame_to_close(struct mdl_thread *thread, uint64_t function, uint64_t key);
/* Releases the frames from the top down to this one; those that nothing closed are counted. */
void record_discard(struct mdl_thread *thread, struct mdl_frame *last);

/*
 * A call on the thread's own stack shows that calls below its key are gone. Not so when other stacks lie inside that one.
 */
bool record_shows_gone(struct mdl_thread *thread, uint64_t key);
static inline bool frames_is_own_stack(const struct mdl_thread *thread, uint64_t key) {
  return key > thread->stack_low && key <= ((const struct mdl_frame *)thread->sp_base)->key;
}
/* There is one at `low`, if that is inside. */
static inline void frames_other_stack(struct mdl_thread *thread, const void *low) {
  if ((uintptr_t)low >= thread->stack_low && (uintptr_t)low < ((const struct mdl_frame *)thread->sp_base)->key) {
    thread->stack_low = UINT64_MAX; /* from now on no call is taken to run on the thread's own */
  }
}

static inline void record_release(struct mdl_thread *thread, struct mdl_frame *frame) {
  __atomic_store_n(&frame->key, 0, __ATOMIC_RELAXED);
  ordered();
  __atomic_store_n(&thread->sp, (uintptr_t)frame, __ATOMIC_RELAXED);
}

/* The sentinel has no function. */
static inline bool is_call(const struct mdl_frame *frame) { return frame->key != 0 && frame->function != 0; }

static inline struct mdl_function *function_of(const struct mdl_frame *frame) {
  return (struct mdl_function *)frame->function;
}

#endif

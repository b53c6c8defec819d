/* The calling thread's shadow stack: calls at hooks, which report entries and exits but have no words on the program's
 * stack. */
#ifndef MDL_FRAMES_H
#define MDL_FRAMES_H

#include "record/interruptible.h"

#include <mdl/layout.h>
#include <stdbool.h>
#include <stddef.h>

/* Creates the block's shadow stack in the calling process's memory; false if out of memory. It must be empty when
 * destroyed. */
bool frames_create(struct mdl_thread *thread, uint64_t here);
void frames_destroy(struct mdl_thread *thread);

/* Pushes a frame for a call that begins now. The caller has checked that there is room. */
void record_push(struct mdl_thread *thread, struct mdl_function *function, uint64_t key, uint32_t weight);
/* Finds the frame that the exit of `function` from `key` closes, and leaves it on top; NULL if there is none. Discards
 * frames of calls that cannot be running any more, because their stack frames lie below. */
struct mdl_frame *record_frame_to_close(struct mdl_thread *thread, uint64_t function, uint64_t key);
/* Releases the frames from the top down to this one, and counts those without an exit. */
void record_discard(struct mdl_thread *thread, struct mdl_frame *last);

/*
 * Whether a call at `key` proves that calls below it have ended. True on the thread's own stack, unless other stacks lie
 * inside it.
 */
bool record_shows_gone(struct mdl_thread *thread, uint64_t key);
static inline bool frames_is_own_stack(const struct mdl_thread *thread, uint64_t key) {
  return key > thread->stack_low && key <= ((const struct mdl_frame *)thread->sp_base)->key;
}
/* Notes another stack at `low`, if it lies inside the thread's own. */
static inline void frames_other_stack(struct mdl_thread *thread, const void *low) {
  if ((uintptr_t)low >= thread->stack_low && (uintptr_t)low < ((const struct mdl_frame *)thread->sp_base)->key) {
    thread->stack_low = UINT64_MAX; /* from now on no call counts as running on the thread's own stack */
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

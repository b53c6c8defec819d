#include "record/frames.h"

#include "os/own_memory.h"
#include "os/self.h"
#include "os/stack.h"
#include "os/sys.h"
#include "record/mode.h"
#include "record/rows.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
  FRAMES = 131072,
  STACK_BYTES = (FRAMES + 1) * (int)sizeof(struct mdl_frame),
};
/* Call words are kept on the program's stack only in its first part: a recursion that nearly fills the stack must not
 * overflow it because of us. */
#define STACK_PARTS 4
#define STACK_REACH (64ULL << 20) /* keys further apart are on different stacks */

static inline struct mdl_frame *top(const struct mdl_thread *thread) {
  return (struct mdl_frame *)__atomic_load_n(&thread->sp, __ATOMIC_RELAXED) - 1;
}

/*
 * Private memory of the process, so it does not stay with the block: any process of a forked family may claim a free block.
 */
bool frames_create(struct mdl_thread *thread, uint64_t here) {
  void *stack = own_memory_map(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0,
                               INHERITED);
  if (stack == MAP_FAILED) {
    return false;
  }
  struct mdl_frame *frames = stack;
  struct stack own = stack_of_thread(here);
  bool known = own.low < own.high;
  /* Its key equals no call's key, because exits compare theirs with the frame on top, whatever it is. */
  frames[0].key = known ? own.high : UINT64_MAX;
  thread->stack_low = known ? own.low : UINT64_MAX;
  thread->stack_room = (own.high - own.low) / STACK_PARTS * (STACK_PARTS - 1);
  thread->sp_base = (uintptr_t)frames;
  thread->sp_limit = (uintptr_t)(frames + FRAMES + 1);
  thread->sp = (uintptr_t)(frames + 1);
  return true;
}

void frames_destroy(struct mdl_thread *thread) {
  struct mdl_frame *base = (struct mdl_frame *)thread->sp_base;
  record_discard(thread, base + 1);
  own_memory_unmap(base, STACK_BYTES);
}

void record_push(struct mdl_thread *thread, struct mdl_function *function, uint64_t key, uint32_t weight) {
  struct mdl_frame *frame = (struct mdl_frame *)thread->sp;
  __atomic_store_n(&thread->sp, (uintptr_t)(frame + 1), __ATOMIC_RELAXED);
  ordered();
  frame->function = (uintptr_t)function;
  record_starts(thread, &frame->call, function, weight);
  ordered();
  __atomic_store_n(&frame->key, key, __ATOMIC_RELAXED);
}

void record_discard(struct mdl_thread *thread, struct mdl_frame *last) {
  for (struct mdl_frame *frame = top(thread); frame >= last; frame--) {
    if (is_call(frame)) {
      if (weight_of(&frame->call) != 1) {
        __atomic_fetch_sub(&function_of(frame)->open, 1, __ATOMIC_SEQ_CST);
      }
      add(&thread->unmatched, 1);
    }
    record_release(thread, frame);
  }
}

bool record_shows_gone(struct mdl_thread *thread, uint64_t key) {
  if (!frames_is_own_stack(thread, key)) {
    return false;
  }
  if (process_is_confined) {
    return false; /* system calls are not allowed */
  }
  stack_t alternate;
  if (raw_syscall(SYS_sigaltstack, NULL, &alternate) == 0 && !(alternate.ss_flags & SS_DISABLE)) {
    frames_other_stack(thread, alternate.ss_sp);
  }
  return key > thread->stack_low;
}

struct mdl_frame *record_frame_to_close(struct mdl_thread *thread, uint64_t function, uint64_t key) {
  for (;;) {
    struct mdl_frame *frame = top(thread);
    if (!is_call(frame) || frame->key > key || key - frame->key >= STACK_REACH) {
      return NULL;
    }
    if (frame->key < key) {
      record_discard(thread, frame);
      continue;
    }
    for (struct mdl_frame *lower = frame; lower->key == key; lower--) {
      if (function_of(lower)->address == function) {
        if (lower != frame) {
          record_discard(thread, lower + 1);
        }
        return lower;
      }
    }
    return NULL;
  }
}

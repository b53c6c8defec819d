/* Jumps that restore a mask. The bits travel in a part of the saved mask that neither libc nor the kernel uses. */
#include "os/next.h"
#include "process/masks.h"
#include "record/thread.h"

#include <setjmp.h>
#include <ucontext.h>

enum { LAST_WORD = sizeof(sigset_t) / sizeof(unsigned long) - 1 };

/* By a tail call, as swapcontext: libc saves its caller's stack pointer and return address. */
EXPORT int __sigsetjmp(struct __jmp_buf_tag state[1], int with_mask) {
  if (with_mask) {
    state->__saved_mask.__val[LAST_WORD] = traps_blocked;
  }
  return next()->save_jump(state, with_mask);
}

/* Ignores values that were not stored by __sigsetjmp. */
static uint64_t saved_bits(const struct __jmp_buf_tag *state) {
  uint64_t bits = state->__saved_mask.__val[LAST_WORD];
  return (bits & ~TRAPS ? 0 : bits) | (state->__saved_mask.__val[0] & TRAPS); /* the latter if it is older than the wrappers */
}

#define JUMP(name, pointer)                                              \
  EXPORT void name(struct __jmp_buf_tag state[1], int value) {             \
    if (state->__mask_was_saved) {                                       \
      masks_set_blocked(saved_bits(state));                                \
      state->__saved_mask.__val[0] &= ~TRAPS;                              \
    }                                                                    \
    next()->pointer(state, value);                                       \
    __builtin_unreachable();                                             \
  }
void __longjmp_chk(struct __jmp_buf_tag state[1], int value) __attribute__((noreturn));
JUMP(longjmp, jump)
JUMP(_longjmp, jump)
JUMP(siglongjmp, jump)
JUMP(__longjmp_chk, jump_checked)

/* A context may hold a mask that the application has set, with any signal. */
static void adapt(ucontext_t *to) {
  *(uint64_t *)&to->uc_sigmask &= ~TRAPS;
  record_other_stack(to->uc_stack.ss_sp);
}

EXPORT int setcontext(const ucontext_t *to) {
  adapt((ucontext_t *)to);
  return next()->setcontext(to);
}

EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to) {
  adapt((ucontext_t *)to);
  return next()->swapcontext(from, to);
}

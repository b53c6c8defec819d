/* Jumps that restore a mask. The bit travels in a part of the saved mask that neither libc nor the kernel uses. */
#include "os/next.h"
#include "process/masks.h"
#include "record/thread.h"

#include <setjmp.h>
#include <ucontext.h>

enum { LAST_WORD = sizeof(sigset_t) / sizeof(unsigned long) - 1 };

/* By a tail call, as swapcontext: libc saves the stack pointer and the return address of its caller. */
EXPORT int __sigsetjmp(struct __jmp_buf_tag state[1], int with_mask) {
  if (with_mask) {
    state->__saved_mask.__val[LAST_WORD] = trap_blocked;
  }
  return next()->save_jump(state, with_mask);
}

#define JUMP(name, pointer)                                              \
  EXPORT void name(struct __jmp_buf_tag state[1], int value) {             \
    if (state->__mask_was_saved) {                                       \
      masks_set_blocked(state->__saved_mask.__val[LAST_WORD] == 1);            \
    }                                                                    \
    next()->pointer(state, value);                                       \
    __builtin_unreachable();                                             \
  }
void __longjmp_chk(struct __jmp_buf_tag state[1], int value) __attribute__((noreturn));
JUMP(longjmp, jump)
JUMP(_longjmp, jump)
JUMP(siglongjmp, jump)
JUMP(__longjmp_chk, jump_checked)

/* A mask that the application has asked for, and so has SIGTRAP, may have been put into a context. */
static void adapt(ucontext_t *to) {
  *(uint64_t *)&to->uc_sigmask &= ~TRAP;
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

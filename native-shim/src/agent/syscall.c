/* libc's syscall(): system calls that have an interposed function get the same treatment. */
#include "agent/single_thread.h"
#include "process/dispositions.h"
#include "process/mask_waits.h"
#include "process/memory_locks.h"

#include <sys/syscall.h>

struct kernel_mask {
  const uint64_t *set;
  size_t size;
};

/* Only the first word of either set is used. */
static int raw_sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  return (int)raw_syscall(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

long watched_syscall(long number, long a, long b, long c, long d, long e, long f);
long watched_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const struct kernel_mask *of_pselect = (const struct kernel_mask *)f;
  switch (is_agent_thread ? -1 : number) {
    case SYS_rt_sigprocmask:
      if (d == sizeof(uint64_t)) {
        return masks_set_virtual(raw_sigprocmask, (int)a, (const sigset_t *)b, (sigset_t *)c);
      }
      break;
    case SYS_rt_sigaction:
      if (d == sizeof(uint64_t)) {
        return signals_raw_sigaction((int)a, (const struct kernel_action *)b, (struct kernel_action *)c);
      }
      break;
    case SYS_rt_sigsuspend:
      WITH_OTHER_MASK((const void *)a, raw_syscall(number, other, b));
    case SYS_ppoll:
      WITH_OTHER_MASK((const void *)d, raw_syscall(number, a, b, c, other, e));
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      WITH_OTHER_MASK((const void *)e, raw_syscall(number, a, b, c, d, other, f));
    case SYS_pselect6:
      if (of_pselect && of_pselect->set) {
        WITH_OTHER_MASK(of_pselect->set,
                        raw_syscall(number, a, b, c, d, e, (&(struct kernel_mask){other, of_pselect->size})));
      }
      break;
    case SYS_mlockall:
      return memory_lock_all((int)a);
    case SYS_munlockall:
      return memory_unlock_all();
    default:
      return is_agent_thread ? raw_syscall(number, a, b, c, d, e, f) : single_thread_make(number, a, b, c, d, e);
  }
  return raw_syscall(number, a, b, c, d, e, f);
}

/*
 * In assembly, because a child of vfork or clone returns from it on another stack, or twice on the same one.
 * syscall() and watched_syscall() have the same parameters.
 */
__asm__(
    ".text\n"
    ".globl syscall\n"
    ".type syscall, @function\n"
    "syscall:\n"
    "  .cfi_startproc\n"
    "  cmpq $13, %rdi\n" /* rt_sigaction */
    "  je watched_syscall\n"
    "  cmpq $14, %rdi\n" /* rt_sigprocmask */
    "  je watched_syscall\n"
    "  leaq -105(%rdi), %rax\n" /* setuid to capset */
    "  cmpq $21, %rax\n"
    "  jbe watched_syscall\n"
    "  cmpq $130, %rdi\n" /* rt_sigsuspend */
    "  je watched_syscall\n"
    "  leaq -151(%rdi), %rax\n" /* mlockall, munlockall */
    "  cmpq $1, %rax\n"
    "  jbe watched_syscall\n"
    "  cmpq $155, %rdi\n" /* pivot_root */
    "  je watched_syscall\n"
    "  cmpq $157, %rdi\n" /* prctl */
    "  je watched_syscall\n"
    "  cmpq $161, %rdi\n" /* chroot */
    "  je watched_syscall\n"
    "  cmpq $270, %rdi\n" /* pselect6 */
    "  je watched_syscall\n"
    "  cmpq $271, %rdi\n" /* ppoll */
    "  je watched_syscall\n"
    "  cmpq $272, %rdi\n" /* unshare */
    "  je watched_syscall\n"
    "  cmpq $281, %rdi\n" /* epoll_pwait */
    "  je watched_syscall\n"
    "  cmpq $308, %rdi\n" /* setns */
    "  je watched_syscall\n"
    "  cmpq $317, %rdi\n" /* seccomp */
    "  je watched_syscall\n"
    "  cmpq $441, %rdi\n" /* epoll_pwait2 */
    "  je watched_syscall\n"
    "  cmpq $446, %rdi\n" /* landlock_restrict_self */
    "  je watched_syscall\n"
    "  jmp raw_syscall\n"
    "  .cfi_endproc\n"
    ".size syscall, .-syscall\n");

_Static_assert(SYS_rt_sigaction == 13 && SYS_rt_sigprocmask == 14 && SYS_setuid == 105 && SYS_capset == 126 &&
                   SYS_rt_sigsuspend == 130 && SYS_mlockall == 151 && SYS_munlockall == 152 && SYS_pivot_root == 155 && SYS_prctl == 157 && SYS_chroot == 161 &&
                   SYS_pselect6 == 270 && SYS_ppoll == 271 &&
                   SYS_unshare == 272 && SYS_epoll_pwait == 281 && SYS_setns == 308 && SYS_seccomp == 317 &&
                   SYS_epoll_pwait2 == 441,
               "the numbers in syscall");

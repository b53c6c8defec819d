#include "os/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic bool tsc_is_forbidden;

bool tsc_is_forbidden_to_thread(void) {
  int state = PR_TSC_ENABLE;
  if (raw_syscall(SYS_prctl, PR_GET_TSC, &state, 0L, 0L, 0L) == 0 && state == PR_TSC_SIGSEGV) {
    atomic_store(&tsc_is_forbidden, true);
  }
  return state == PR_TSC_SIGSEGV;
}

uint64_t kernel_limit(int resource) {
  struct rlimit limit;
  return raw_syscall(SYS_prlimit64, 0, resource, NULL, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

uint64_t clock_nanos(clockid_t clock) {
  struct timespec now = {0, 0};
  if (atomic_load(&tsc_is_forbidden)) {
    raw_syscall(SYS_clock_gettime, clock, &now);
  } else {
    clock_gettime(clock, &now);
  }
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanos) {
  struct timespec timeout = {(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)};
  long result = raw_syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, &timeout, NULL, 0);
  return result == 0 || errno != ETIMEDOUT;
}

void futex_wake(_Atomic uint32_t *word) {
  raw_syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}

void latch_open(latch *word) {
  atomic_store(word, 1);
  futex_wake(word);
}

bool latch_await(latch *word, uint64_t nanos) {
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + nanos;
  while (!atomic_load(word)) {
    uint64_t now = clock_nanos(CLOCK_MONOTONIC);
    if (now >= deadline) {
      return false;
    }
    futex_wait(word, 0, deadline - now);
  }
  return true;
}

/* Sets errno as libc does. */
__asm__(
    ".text\n"
    ".globl raw_syscall\n"
    ".hidden raw_syscall\n"
    ".type raw_syscall, @function\n"
    "raw_syscall:\n"
    "  .cfi_startproc\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  movq %rdx, %rsi\n"
    "  movq %rcx, %rdx\n"
    "  movq %r8, %r10\n"
    "  movq %r9, %r8\n"
    "  movq 8(%rsp), %r9\n"
    "  syscall\n"
    "  cmpq $-4095, %rax\n"
    "  jae 1f\n"
    "  ret\n"
    "1:\n"
    "  negl %eax\n"
    "  pushq %rax\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call __errno_location@PLT\n"
    "  popq %rcx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  movl %ecx, (%rax)\n"
    "  movq $-1, %rax\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size raw_syscall, .-raw_syscall\n");

void read_text(const char *path, char *text, size_t capacity) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, capacity - 1);
  if (file >= 0) {
    close(file);
  }
  text[length > 0 ? length : 0] = 0;
}

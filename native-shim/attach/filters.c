#include "filters.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum { CALLS = 512 }; /* numbers to try: those of 64-bit calls */

static const struct {
  int number;
  const char *name;
} needed[] = {
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_lseek, "lseek"},
    {SYS_pread64, "pread64"},
    {SYS_getdents64, "getdents64"},
    {SYS_fcntl, "fcntl"},
    {SYS_mkdir, "mkdir"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_madvise, "madvise"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_futex, "futex"},
    {SYS_clone, "clone"},
    {SYS_exit, "exit"},
    {SYS_gettid, "gettid"},
    {SYS_tgkill, "tgkill"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_rt_sigprocmask, "rt_sigprocmask"},
    {SYS_rt_sigreturn, "rt_sigreturn"},
    {SYS_sched_yield, "sched_yield"},
    {SYS_sched_getaffinity, "sched_getaffinity"},
};

const char *filters_read(pid_t thread, struct filters *filters) {
  filters->count = 0;
  filters->start[0] = 0;
  for (size_t i = 0;; i++) {
    size_t at = filters->start[i];
    long length = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, (void *)i, NULL);
    if (length < 0 && errno == ENOENT) {
      return NULL; /* there are no more */
    }
    if (length < 0) {
      return errno == EACCES ? "it has a seccomp filter, which only root outside of containers may read"
                             : "its seccomp filter cannot be read";
    }
    if (i == FILTERS_MAX || (size_t)length > FILTER_INSTRUCTIONS_MAX - at ||
        ptrace(PTRACE_SECCOMP_GET_FILTER, thread, (void *)i, &filters->code[at]) != length) {
      return "its seccomp filters are too large";
    }
    filters->start[i + 1] = at + (size_t)length;
    filters->count = i + 1;
  }
}

/* ---- one filter, for one call number */

/* The accumulator before an instruction. Index register and scratch memory are always unknown. */
struct accumulator {
  bool is_reached, is_known;
  uint32_t value;
};

static struct accumulator states[BPF_MAXINSNS + 1];

static void reach(size_t at, size_t end, struct accumulator accumulator) {
  if (at >= end) {
    return; /* the kernel has refused such a program */
  }
  struct accumulator *state = &states[at];
  if (!state->is_reached) {
    *state = accumulator;
    state->is_reached = true;
  } else if (!accumulator.is_known || accumulator.value != state->value) {
    state->is_known = false;
  }
}

static enum filter_effect effect_of(uint32_t result) {
  switch (result & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG: return FILTER_ALLOWS;
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_TRACE: /* without a tracer, fails with ENOSYS */
    case SECCOMP_RET_USER_NOTIF: return FILTER_FAILS;
    default: return FILTER_HARMS;
  }
}

static struct accumulator known(uint32_t value) { return (struct accumulator){.is_known = true, .value = value}; }

static struct accumulator load(const struct sock_filter *code, uint32_t number) {
  static const struct accumulator unknown = {.is_known = false};
  switch (BPF_MODE(code->code)) {
    case BPF_IMM: return known(code->k);
    case BPF_LEN: return known(sizeof(struct seccomp_data));
    case BPF_ABS:
      return code->k == offsetof(struct seccomp_data, nr)     ? known(number)
             : code->k == offsetof(struct seccomp_data, arch) ? known(AUDIT_ARCH_X86_64)
                                                              : unknown;
    default: return unknown;
  }
}

static struct accumulator calculate(const struct sock_filter *code, struct accumulator a) {
  if (BPF_OP(code->code) == BPF_NEG) {
    a.value = -a.value;
    return a;
  }
  if (BPF_SRC(code->code) == BPF_X) {
    a.is_known = false;
    return a;
  }
  uint32_t k = code->k;
  switch (BPF_OP(code->code)) {
    case BPF_ADD: a.value += k; break;
    case BPF_SUB: a.value -= k; break;
    case BPF_MUL: a.value *= k; break;
    case BPF_DIV: a.value = k ? a.value / k : 0; break;
    case BPF_AND: a.value &= k; break;
    case BPF_OR: a.value |= k; break;
    case BPF_XOR: a.value ^= k; break;
    case BPF_LSH: a.value = k < 32 ? a.value << k : 0; break;
    case BPF_RSH: a.value = k < 32 ? a.value >> k : 0; break;
    default: a.is_known = false;
  }
  return a;
}

static bool holds(const struct sock_filter *code, uint32_t value) {
  switch (BPF_OP(code->code)) {
    case BPF_JEQ: return value == code->k;
    case BPF_JGT: return value > code->k;
    case BPF_JGE: return value >= code->k;
    default: return (value & code->k) != 0; /* BPF_JSET */
  }
}

static void jump(const struct sock_filter *code, size_t at, size_t end, struct accumulator a) {
  if (BPF_OP(code->code) == BPF_JA) {
    reach(at + 1 + code->k, end, a);
    return;
  }
  bool is_decided = a.is_known && BPF_SRC(code->code) == BPF_K;
  if (!is_decided || holds(code, a.value)) {
    reach(at + 1 + code->jt, end, a);
  }
  if (!is_decided || !holds(code, a.value)) {
    reach(at + 1 + code->jf, end, a);
  }
}

/* Jumps lead forwards only, so one pass in order of the instructions visits each with its final state. */
static unsigned effects_of_filter(const struct sock_filter *code, size_t length, uint32_t number) {
  unsigned effects = 0;
  memset(states, 0, length * sizeof *states);
  reach(0, length, known(0));
  for (size_t at = 0; at < length; at++) {
    struct accumulator a = states[at];
    if (!a.is_reached) {
      continue;
    }
    switch (BPF_CLASS(code[at].code)) {
      case BPF_RET:
        effects |= BPF_RVAL(code[at].code) == BPF_K ? effect_of(code[at].k) : a.is_known ? effect_of(a.value) : FILTER_HARMS;
        break;
      case BPF_JMP: jump(&code[at], at, length, a); break;
      case BPF_LD: reach(at + 1, length, load(&code[at], number)); break;
      case BPF_ALU: reach(at + 1, length, calculate(&code[at], a)); break;
      case BPF_MISC:
        a.is_known = a.is_known && BPF_MISCOP(code[at].code) == BPF_TAX;
        reach(at + 1, length, a);
        break;
      default: reach(at + 1, length, a); /* LDX, ST, STX */
    }
  }
  return effects;
}

/* Of all filters the strictest result counts. */
unsigned filters_effects(const struct filters *filters, uint32_t number) {
  unsigned some = 0, all = FILTER_ALLOWS;
  for (size_t i = 0; i < filters->count; i++) {
    unsigned effects = effects_of_filter(&filters->code[filters->start[i]], filters->start[i + 1] - filters->start[i], number);
    some |= effects;
    all &= effects;
  }
  return (some & (FILTER_FAILS | FILTER_HARMS)) | all;
}

const char *filters_objection(const struct filters *filters) {
  static char text[128];
  for (uint32_t number = 0; number < CALLS; number++) {
    if (filters_effects(filters, number) & FILTER_HARMS) {
      snprintf(text, sizeof text, "its seccomp filter may end it at system calls, such as number %u, that the agent may make",
               number);
      return text;
    }
  }
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    if (!(filters_effects(filters, (uint32_t)needed[i].number) & FILTER_ALLOWS)) {
      snprintf(text, sizeof text, "its seccomp filter denies %s, which the agent needs", needed[i].name);
      return text;
    }
  }
  return NULL;
}

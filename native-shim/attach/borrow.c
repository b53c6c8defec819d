#include "borrow.h"

#include "steps.h"
#include "waits.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum {
  RED_ZONE = 128,
  SYSCALL_BYTES = 2,
  XSAVE_MAX = 16384,
  XSAVE_ALIGNMENT = 64,
  FLAGS = 0x202, /* RFLAGS of a called function: interrupts on, direction flag clear */
  SIGNAL_SET_BYTES = 8,
  WAIT_NANOS = 10000000, /* poll interval, in case SIGCHLD does not arrive */
};

static const uint64_t STOP_NANOS_MAX = 1000000000; /* 1 s: a running thread must get a processor before it can stop */

/* ---- signal frames, as the kernel reads them (arch/x86/include/uapi/asm/sigcontext.h, ucontext.h) */

struct signal_context {
  uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
  uint16_t cs, gs, fs, ss;
  uint64_t error, trap, old_mask, cr2;
  uint64_t vector_state; /* address */
  uint64_t reserved[8];
};

struct signal_frame {
  uint64_t signal_return; /* return address of the previous call */
  uint64_t flags, link;
  uint64_t stack_pointer;
  uint32_t stack_flags, padding;
  uint64_t stack_bytes;
  struct signal_context context;
  uint64_t mask;
};

enum {
  HAS_VECTOR_STATE = 1,
  HAS_STACK_SEGMENT = 2 | 4,
  INVALID_STACK_FLAGS = 0x7F, /* invalid, so the kernel ignores it and keeps the alternate stack */
  MAGIC_BEFORE = 0x46505853,
  MAGIC_BEHIND = 0x46505845,
  SOFTWARE_BYTES = 464, /* of the XSAVE area, for the kernel */
};

struct software_bytes {
  uint32_t magic, bytes_with_magic;
  uint64_t features;
  uint32_t bytes, padding[7];
};

/* The context that a stopped thread is restored to. */
struct interrupted {
  struct user_regs_struct registers;
  uint64_t mask;
  size_t vector_bytes;
  _Alignas(XSAVE_ALIGNMENT) uint8_t vector_state[XSAVE_MAX];
};

static struct interrupted saved; /* static: nothing is allocated while a thread is stopped */

static uint64_t now_nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the stop */

/* False if it has not stopped in time, or has ended. SIGCHLD is blocked; each stop raises it. */
static bool await_stop(pid_t thread, int *status) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  uint64_t deadline = now_nanos() + STOP_NANOS_MAX;
  for (uint64_t now; (now = now_nanos()) < deadline;) {
    pid_t stopped = waitpid(thread, status, __WALL | WNOHANG);
    if (stopped == thread) {
      return true;
    }
    if (stopped < 0 && errno != EINTR) {
      return false;
    }
    sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = WAIT_NANOS});
  }
  return false;
}

/* Raises the priority, so that competing processes do not prolong a stop. */
void borrow_begin(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
}

/* Delivers the signal that the thread was stopped for. */
static void let_go(pid_t thread, int signal) { ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)signal); }

static bool read_interrupted(pid_t thread) {
  struct iovec area = {saved.vector_state, sizeof saved.vector_state};
  if (ptrace(PTRACE_GETREGS, thread, NULL, &saved.registers) != 0 ||
      ptrace(PTRACE_GETSIGMASK, thread, (void *)(intptr_t)SIGNAL_SET_BYTES, &saved.mask) != 0 ||
      ptrace(PTRACE_GETREGSET, thread, (void *)(intptr_t)NT_X86_XSTATE, &area) != 0) {
    return false;
  }
  saved.vector_bytes = area.iov_len;
  return area.iov_len > SOFTWARE_BYTES + sizeof(struct software_bytes) && area.iov_len < XSAVE_MAX;
}

/* Whether an unblocked signal is pending for the thread or its process. */
static bool signal_waits(pid_t thread) {
  enum { SIGNALS_READ = 32 };
  siginfo_t infos[SIGNALS_READ];
  for (int shared = 0; shared < 2; shared++) {
    struct __ptrace_peeksiginfo_args arguments = {.off = 0, .flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0, .nr = SIGNALS_READ};
    long count = ptrace(PTRACE_PEEKSIGINFO, thread, &arguments, infos);
    for (long i = 0; i < count; i++) {
      if (!(saved.mask >> (infos[i].si_signo - 1) & 1)) {
        return true;
      }
    }
    if (count == SIGNALS_READ) {
      return true; /* there may be more signals */
    }
  }
  return false;
}

enum { RESTART = 512, NO_INTERRUPT = 513, NO_HANDLER = 514, RESTART_BLOCK = 516 }; /* ERESTARTSYS and similar codes */

/* The kernel would restart the call. */
static bool is_restarted(const struct user_regs_struct *registers) {
  switch (-(int64_t)registers->rax) {
    case RESTART:
    case NO_INTERRUPT:
    case NO_HANDLER:
    case RESTART_BLOCK: return (int64_t)registers->orig_rax >= 0;
    default: return false;
  }
}

/* The call has failed because of the stop, without effect. */
static bool has_failed(const struct user_regs_struct *registers) {
  return (int64_t)registers->orig_rax >= 0 && (int64_t)registers->rax == -EINTR && waits_rank(registers->orig_rax) >= 0;
}

static void rewind_call(struct user_regs_struct *registers, uint64_t number) {
  registers->rip -= SYSCALL_BYTES;
  registers->rax = number;
  registers->orig_rax = (uint64_t)-1; /* the kernel restarts nothing */
}

static bool is_where_chosen(const struct target *target, const struct candidate *candidate) {
  const struct user_regs_struct *registers = &saved.registers;
  if (candidate->runs) {
    return (int64_t)registers->orig_rax < 0 && registers->rip >= target->program.start && registers->rip < target->program.end;
  }
  return registers->orig_rax == candidate->number && registers->rsp == candidate->stack && registers->rip == candidate->next &&
         (is_restarted(registers) || has_failed(registers));
}

/* ---- the frames */

static void mark_vector_state(void) {
  struct software_bytes *software = (void *)(saved.vector_state + SOFTWARE_BYTES);
  uint64_t features = *(uint64_t *)(void *)software; /* the features that the kernel supports */
  *software = (struct software_bytes){.magic = MAGIC_BEFORE,
                                      .bytes_with_magic = (uint32_t)saved.vector_bytes + sizeof(uint32_t),
                                      .features = features,
                                      .bytes = (uint32_t)saved.vector_bytes};
  uint32_t magic = MAGIC_BEHIND;
  memcpy(saved.vector_state + saved.vector_bytes, &magic, sizeof magic);
}

static struct signal_frame frame_of(const struct target *target, const struct user_regs_struct *registers, uint64_t mask,
                                    uint64_t vector_state) {
  return (struct signal_frame){
      .signal_return = target->signal_return,
      .flags = HAS_VECTOR_STATE | HAS_STACK_SEGMENT,
      .stack_flags = INVALID_STACK_FLAGS,
      .context = {.r8 = registers->r8, .r9 = registers->r9, .r10 = registers->r10, .r11 = registers->r11,
                  .r12 = registers->r12, .r13 = registers->r13, .r14 = registers->r14, .r15 = registers->r15,
                  .rdi = registers->rdi, .rsi = registers->rsi, .rbp = registers->rbp, .rbx = registers->rbx,
                  .rdx = registers->rdx, .rax = registers->rax, .rcx = registers->rcx, .rsp = registers->rsp,
                  .rip = registers->rip, .eflags = registers->eflags, .cs = (uint16_t)registers->cs,
                  .gs = (uint16_t)registers->gs, .fs = (uint16_t)registers->fs, .ss = (uint16_t)registers->ss,
                  .vector_state = vector_state},
      .mask = mask,
  };
}

static void set_call(struct user_regs_struct *registers, const struct call *call, uint64_t stack) {
  registers->rip = call->function;
  registers->rsp = stack;
  registers->rax = call->rax;
  registers->rdi = call->argument[0];
  registers->rsi = call->argument[1];
  registers->rdx = call->argument[2];
  registers->r10 = registers->rcx = call->argument[3];
  registers->r8 = call->argument[4];
  registers->r9 = call->argument[5];
  registers->eflags = FLAGS;
}

/* Below `top`, downwards: vector state, the interrupted context's frame, frames of all calls except the first, which is
 * stored in `first`. */
static bool write_frames(const struct target *target, const struct call *calls, size_t count, uint64_t top,
                         struct user_regs_struct *first) {
  mark_vector_state();
  size_t bytes = saved.vector_bytes + sizeof(uint32_t);
  uint64_t vector_state = (top - bytes) & -(uint64_t)XSAVE_ALIGNMENT;
  struct user_regs_struct context = saved.registers;
  uint64_t mask = saved.mask, below = vector_state;
  for (size_t i = 0; i < count; i++) {
    mask &= calls[i].unblocks_traps ? ~(uint64_t)BORROW_TRAPS : ~0ULL;
  }
  bool written = target_put(target, vector_state, saved.vector_state, bytes);
  for (size_t i = count; i-- > 0 && written;) {
    struct signal_frame frame = frame_of(target, &context, mask, vector_state);
    uint64_t at = ((below - sizeof frame) & -(uint64_t)16) - 8; /* position of a called function's return address */
    written = target_put(target, at, &frame, sizeof frame);
    set_call(&context, &calls[i], at);
    mask = calls[i].blocks_signals ? ~0ULL : saved.mask;
    below = at;
  }
  *first = context;
  return written;
}

/* ---- one thread */

static enum borrowed use_stopped(const struct target *target, const struct candidate *candidate, const struct call *calls,
                                 size_t count, uint64_t top) {
  struct user_regs_struct first;
  bool is_there = is_where_chosen(target, candidate), restarts = is_restarted(&saved.registers);
  if (has_failed(&saved.registers) && !TWIN("no-rewind")) {
    rewind_call(&saved.registers, saved.registers.orig_rax);
    STEP(3);
    if (ptrace(PTRACE_SETREGS, candidate->thread, NULL, &saved.registers) != 0) {
      return NOT_THERE;
    }
  }
  STEP(4);
  if (!is_there) {
    return NOT_THERE;
  }
  if (restarts) {
    rewind_call(&saved.registers, candidate->again);
  }
  top = top ? top : saved.registers.rsp - RED_ZONE;
  if (!write_frames(target, calls, count, top, &first)) {
    return NOT_THERE;
  }
  first.orig_rax = (uint64_t)-1;
  STEP(5);
  return ptrace(PTRACE_SETREGS, candidate->thread, NULL, &first) == 0 ? BORROWED : NOT_THERE;
}

/* BORROWED once the thread is stopped for this or another reason, by its wait status. Its call is interrupted. */
static enum borrowed stop(pid_t thread, int *status) {
  if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) {
    return errno == EPERM ? NOT_ALLOWED : NOT_THERE;
  }
  STEP(1);
  if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0) {
    return NOT_THERE; /* it has ended */
  }
  if (!await_stop(thread, status)) {
    return DOES_NOT_STOP;
  }
  STEP(2);
  return BORROWED;
}

static bool is_for_us(int status) {
  return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

static int signal_of(int status) { return WIFSTOPPED(status) && status >> 16 == 0 ? WSTOPSIG(status) : 0; }

enum borrowed borrow(const struct target *target, const struct candidate *candidate, const struct call *calls, size_t count,
                     uint64_t top, uint64_t *stopped) {
  pid_t thread = candidate->thread;
  int status;
  uint64_t begin = now_nanos();
  enum borrowed result = stop(thread, &status);
  if (result != BORROWED) {
    return result;
  }
  begin = candidate->runs ? now_nanos() : begin; /* a running thread ran until now */
  result = NOT_THERE;
  if (is_for_us(status) && read_interrupted(thread) && !signal_waits(thread)) {
    result = use_stopped(target, candidate, calls, count, top);
  }
  STEP(6);
  let_go(thread, signal_of(status));
  *stopped += now_nanos() - begin;
  STEP(7);
  return result;
}

/* A filter may not allow restart_syscall, by which the kernel continues sleeps. */
static bool must_rewind(const struct filters *filters, const char *trouble) {
  int64_t result = (int64_t)saved.registers.rax, number = (int64_t)saved.registers.orig_rax;
  return number >= 0 && number != SYS_restart_syscall &&
         (result == -EINTR ||
          (result == -RESTART_BLOCK && (trouble || filters_effects(filters, SYS_restart_syscall) != FILTER_ALLOWS)));
}

enum borrowed borrow_filters(pid_t thread, struct filters *filters, const char **trouble) {
  int status;
  enum borrowed result = stop(thread, &status);
  if (result != BORROWED) {
    return result;
  }
  *trouble = WIFSTOPPED(status) ? filters_read(thread, filters) : NULL;
  if (is_for_us(status) && read_interrupted(thread) && !signal_waits(thread) && must_rewind(filters, *trouble)) {
    rewind_call(&saved.registers, saved.registers.orig_rax);
    ptrace(PTRACE_SETREGS, thread, NULL, &saved.registers);
  }
  let_go(thread, signal_of(status));
  return WIFSTOPPED(status) ? BORROWED : NOT_THERE;
}

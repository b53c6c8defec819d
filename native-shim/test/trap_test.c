#include "code/code.h"
#include "fixture.h"
#include "os/next.h"
#include "os/signal_block.h"
#include "os/sys.h"
#include "process/actions.h"
#include "process/dispositions.h"
#include "process/trap_bit.h"
#include "record/frames.h"
#include "record/mode.h"
#include "session/memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <x86intrin.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old programs use them */

/* ---- code to trap */

/*
 * Each piece is copied to an address chosen by the kernel. It marks its red zone, calls, and returns the red
 * zone's contents to the caller, beginning with the word that the call has written.
 */
__asm__(
    ".pushsection .rodata\n"
    "piece:\n"
    "  movabs $0x1122334455667788, %rax\n"
    "  .irp at, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128\n"
    "  movq %rax, -\\at(%rsp)\n"
    "  .endr\n"
    "piece_site:\n"
    "  call piece_callee\n"
    "piece_after:\n"
    "  .irp at, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128\n"
    "  movq -\\at(%rsp), %rcx\n"
    "  movq %rcx, (\\at - 8)(%rdi)\n"
    "  .endr\n"
    "  ret\n"
    "piece_callee:\n"
    "  movl $42, %eax\n"
    "  ret\n"
    "piece_other:\n"
    "  movl $77, %eax\n"
    "  ret\n"
    "piece_end:\n"
    ".popsection\n");
extern const uint8_t piece[], piece_site[], piece_after[], piece_callee[], piece_other[], piece_end[];

enum { WORDS = 16, INT3 = 0xCC, NO_INSTRUCTION = 0x60, CALL = 0xE8 };
typedef uint32_t (*piece_function)(uint64_t red_zone[WORDS]);

struct place {
  uint64_t code, alias;
};

static struct place map_page(void) {
  size_t gap = 16 << 20; /* its low end: the kernel puts other mappings at the high end */
  void *low = mmap(NULL, gap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(low != MAP_FAILED);
  munmap(low, gap);
  int64_t alias = code_map((uintptr_t)low, 4096);
  CHECK(alias > 0);
  return (struct place){(uintptr_t)low, (uint64_t)alias};
}

static struct place copy_piece(void) {
  struct place place = map_page();
  memcpy((void *)place.alias, piece, (size_t)(piece_end - piece));
  return place;
}

static uint64_t at(struct place place, const uint8_t *label) { return place.code + (uint64_t)(label - piece); }
static uint64_t alias_of(struct place place, const uint8_t *label) { return place.alias + (uint64_t)(label - piece); }

static uint32_t run(struct place place, uint64_t red_zone[WORDS]) {
  piece_function function;
  memcpy(&function, &place.code, sizeof function);
  return function(red_zone);
}

static uint32_t value(struct place place) {
  uint64_t red_zone[WORDS];
  return run(place, red_zone);
}

/* The byte over the piece's call, and the signal that it raises. */
static uint8_t trapping_byte = INT3;
static int own_signal = SIGTRAP;

static void set_trap(struct place place) { code_store(alias_of(place, piece_site), trapping_byte, 1); }
static void clear_trap(struct place place) { code_store(alias_of(place, piece_site), CALL, 1); }

/* ---- the table, as its writer has it */

static uint64_t action(uint64_t kind, uint64_t length, uint64_t target) {
  return kind << MDL_TRAP_KIND_SHIFT | length << MDL_TRAP_LENGTH_SHIFT | target;
}

static struct mdl_trap *add_row(uint64_t address, uint64_t word) {
  enum { SLOTS = 8 };
  struct mdl_trap_index *index = (struct mdl_trap_index *)session->traps;
  if (!index) {
    index = (struct mdl_trap_index *)session_allocate(sizeof *index + SLOTS * sizeof index->rows[0]);
    index->mask = SLOTS - 1;
    __atomic_store_n(&session->traps, (uintptr_t)index, __ATOMIC_RELEASE);
  }
  struct mdl_trap *row = (struct mdl_trap *)session_allocate(sizeof *row);
  row->address = address;
  row->action = word;
  uint64_t slot = ((address * 0x9E3779B97F4A7C15ULL) >> 32) & index->mask;
  while (index->rows[slot]) {
    slot = (slot + 1) & index->mask;
  }
  __atomic_store_n(&index->rows[slot], (uintptr_t)row, __ATOMIC_RELEASE);
  return row;
}

static struct place place;
static struct mdl_trap *row;

/* A piece whose call traps and is redirected to the other function: the call in place would return 42. */
static void trapped_piece(void) {
  create_session();
  CHECK_EQUAL(signals_catch_traps(), 0);
  CHECK_EQUAL(signals_catch_traps(), 0);
  place = copy_piece();
  CHECK_EQUAL(value(place), 42);
  row = add_row(at(place, piece_site), action(MDL_TRAP_CALL, 5, at(place, piece_other)));
  set_trap(place);
}

/* ---- redirects */

static void shouldCallAsTheInstructionDoes(void) {
  trapped_piece();
  struct place untrapped = copy_piece();
  uint64_t expected[WORDS], seen[WORDS];
  CHECK_EQUAL(run(untrapped, expected), 42);
  CHECK_EQUAL(expected[0], at(untrapped, piece_after));
  errno = 123;
  CHECK_EQUAL(run(place, seen), 77);
  CHECK_EQUAL(errno, 123);
  CHECK_EQUAL(seen[0], at(place, piece_after));
  for (int i = 1; i < WORDS; i++) {
    CHECK_EQUAL(seen[i], expected[i]);
    CHECK_EQUAL(seen[i], 0x1122334455667788);
  }
  CHECK_EQUAL(row->hits, 1);
}

static void shouldJump(void) {
  trapped_piece();
  uint64_t red_zone[WORDS];
  row->action = action(MDL_TRAP_JUMP, 0, at(place, piece_after));
  red_zone[0] = 0;
  run(place, red_zone);
  for (int i = 0; i < WORDS; i++) {
    CHECK_EQUAL(red_zone[i], 0x1122334455667788); /* nothing was pushed, and the signal's frame is lower */
  }
  CHECK_EQUAL(row->hits, 1);
}

static void shouldFindEachRowOfAChain(void) {
  trapped_piece();
  struct place more[3];
  for (int i = 0; i < 3; i++) { /* half full: with 8 slots, some chains are most likely longer than one */
    more[i] = copy_piece();
    const uint8_t *to = i % 2 ? piece_other : piece_callee;
    add_row(at(more[i], piece_site), action(MDL_TRAP_CALL, 5, at(more[i], to)));
    set_trap(more[i]);
  }
  for (int i = 0; i < 3; i++) {
    CHECK_EQUAL(value(more[i]), i % 2 ? 77 : 42);
  }
  CHECK_EQUAL(value(place), 77);
}

static volatile uint32_t result;
static void *run_once(void *unused) {
  result = value(place);
  return unused;
}

static uint64_t hits(void) { return __atomic_load_n(&row->hits, __ATOMIC_RELAXED); }

static void shouldRetryUntilTheTrappingByteHasGone(void) {
  trapped_piece();
  pthread_t thread;
  row->action = action(MDL_TRAP_NONE, 0, 0);
  pthread_create(&thread, NULL, run_once, NULL);
  while (hits() < 100) {
    sched_yield();
  }
  CHECK_EQUAL(result, 0);
  clear_trap(place);
  pthread_join(thread, NULL);
  CHECK_EQUAL(result, 42);
}

static void shouldSpinUntilTheTrappingByteHasGone(void) {
  trapped_piece();
  pthread_t thread;
  row->action = action(MDL_TRAP_SPIN, 0, 0);
  pthread_create(&thread, NULL, run_once, NULL);
  while (hits() < 1) {
    sched_yield();
  }
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* a retrying thread would come again */
  CHECK_EQUAL(hits(), 1);
  CHECK_EQUAL(result, 0);
  clear_trap(place);
  pthread_join(thread, NULL);
  CHECK_EQUAL(result, 42);
  CHECK_EQUAL(hits(), 1);
}

/* ---- anywhere */

static uint64_t kernel_mask(void) {
  char line[256];
  unsigned long mask = 0;
  int lines = 0;
  FILE *status = fopen("/proc/thread-self/status", "r");
  while (fgets(line, sizeof line, status)) {
    lines += sscanf(line, "SigBlk: %lx", &mask);
  }
  fclose(status);
  CHECK_EQUAL(lines, 1);
  return mask;
}

static const uint64_t USR1_BIT = 1ULL << (SIGUSR1 - 1);

static volatile int handled;
static volatile uint64_t mask_seen;
static void run_in_handler(int signal) {
  (void)signal;
  mask_seen = kernel_mask();
  result = value(place);
  handled++;
}

static void shouldRedirectInHandlersThatBlockAllOnAlternateStacks(void) {
  trapped_piece();
  static char stack[65536];
  CHECK_EQUAL(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL), 0);
  CHECK_EQUAL(value(place), 77); /* from the thread's own */
  is_agent_thread = true;
  signal(SIGSEGV, run_in_handler); /* like a JVM: from now on the shim has it */
  is_agent_thread = false;
  for (int i = 0; i < 4; i++) {
    struct sigaction handler = {.sa_handler = run_in_handler, .sa_flags = i & 1 ? SA_ONSTACK : 0}, seen;
    int number = i & 2 ? SIGSEGV : SIGUSR1;
    sigfillset(&handler.sa_mask);
    CHECK_EQUAL(sigaction(number, &handler, NULL), 0);
    CHECK_EQUAL(sigaction(number, NULL, &seen), 0);
    CHECK_EQUAL(sigismember(&seen.sa_mask, own_signal), 1);
    result = 0;
    raise(number);
    CHECK_EQUAL(result, 77);
    CHECK_EQUAL(mask_seen & TRAPS, 0);
    CHECK((mask_seen & USR1_BIT) != 0);
  }
  CHECK_EQUAL(handled, 4);
  CHECK_EQUAL(hits(), 5);
}

/* The application's handler, which steps over its own instruction. */
static void own_trap(int signal, siginfo_t *info, void *context) {
  run_in_handler(signal);
  if (signal == SIGILL && info->si_code > 0) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
  }
}

static void trap_by_own_instruction(void) {
  if (own_signal == SIGTRAP) {
    __asm__ volatile("int3");
  } else {
    __asm__ volatile("ud2");
  }
}

static void shouldRedirectInTheApplicationsOwnHandlerOfTheSignal(void) {
  trapped_piece();
  for (int i = 0; i < 4; i++) {
    struct sigaction handler = {.sa_sigaction = own_trap, .sa_flags = SA_SIGINFO | (i & 1 ? SA_NODEFER : 0)};
    if (i & 2) {
      sigfillset(&handler.sa_mask);
    }
    sigaction(own_signal, &handler, NULL);
    result = 0;
    trap_by_own_instruction();
    CHECK_EQUAL(result, 77);
    CHECK_EQUAL(mask_seen & TRAPS, 0);
    CHECK_EQUAL((mask_seen & USR1_BIT) != 0, (i & 2) != 0);
    result = 0;
    raise(own_signal);
    CHECK_EQUAL(result, 77);
  }
  CHECK_EQUAL(handled, 8);
  CHECK_EQUAL(hits(), 8);
}

static void shouldRedirectInForkedAndVforkedChildren(void) {
  trapped_piece();
  struct place later = copy_piece();
  int ready[2];
  char byte = 0;
  int status;
  CHECK_EQUAL(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK_EQUAL(value(place), 77);
    signal(own_signal, SIG_DFL);
    CHECK_EQUAL(value(place), 77);
    CHECK_EQUAL(read(ready[0], &byte, 1), 1);
    _exit((int)value(later)); /* mapped before, trapped since */
  }
  add_row(at(later, piece_site), action(MDL_TRAP_CALL, 5, at(later, piece_other)));
  set_trap(later);
  CHECK_EQUAL(write(ready[1], &byte, 1), 1);
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 77 << 8);

  child = vfork();
  if (child == 0) {
    uint32_t before = value(place);
    signal(own_signal, SIG_DFL);
    _exit(before == 77 ? (int)value(place) : 1);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 77 << 8);
  CHECK_EQUAL(hits(), 4);
}

static void shouldUnblockWhatTheProcessInherited(void) {
  uint64_t blocked = TRAPS | USR1_BIT;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof blocked);
  CHECK_EQUAL(kernel_mask(), blocked);
  trapped_piece();
  CHECK_EQUAL(kernel_mask(), USR1_BIT);
  CHECK_EQUAL(value(place), 77);
  sigset_t seen;
  sigprocmask(SIG_BLOCK, NULL, &seen);
  CHECK_EQUAL(sigismember(&seen, own_signal), 1);
}

static void shouldRedirectWhileTheShimItselfBlocksSignals(void) {
  trapped_piece();
  sigset_t before;
  signals_block_all_but_traps(&before);
  CHECK((kernel_mask() & USR1_BIT) != 0);
  CHECK_EQUAL(value(place), 77);
  signals_restore(&before);
  CHECK_EQUAL(kernel_mask(), 0);
}

/* ---- with everything blocked */

static sigset_t all, none;

static void by_sigprocmask(void) { sigprocmask(SIG_SETMASK, &all, NULL); }
static void by_sigprocmask_block(void) { sigprocmask(SIG_BLOCK, &all, NULL); }
static void by_pthread_sigmask(void) { pthread_sigmask(SIG_SETMASK, &all, NULL); }
static void by_sighold(void) {
  sighold(own_signal);
  sighold(SIGUSR1);
}
static void by_sigset(void) {
  sigset(own_signal, SIG_HOLD);
  sigset(SIGUSR1, SIG_HOLD);
}
static void by_sigblock(void) { sigblock(~0); }
static void by_sigsetmask(void) { sigsetmask(~0); }
static void by_syscall(void) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8L); }
static void by_setcontext(void) {
  static volatile bool done;
  ucontext_t context;
  done = false;
  getcontext(&context);
  if (!done) {
    done = true;
    context.uc_sigmask = all;
    setcontext(&context);
  }
}
static void by_siglongjmp(void) {
  sigjmp_buf state;
  by_sigprocmask();
  if (sigsetjmp(state, 1) == 0) {
    sigprocmask(SIG_SETMASK, &none, NULL);
    siglongjmp(state, 1);
  }
}
static void by_inheritance(void) { by_sigprocmask(); }

static void (*const blockers[])(void) = {
    by_sigprocmask, by_sigprocmask_block, by_pthread_sigmask, by_sighold,   by_sigset,      by_sigblock,
    by_sigsetmask,  by_syscall,           by_setcontext,      by_siglongjmp, by_inheritance,
};

enum { TRAPS_IN_TOTAL = 1000000, BLOCKERS = sizeof blockers / sizeof blockers[0] };

static void run_often(int times) {
  uint64_t before = hits();
  for (int i = 0; i < times; i++) {
    CHECK_EQUAL(value(place), 77);
  }
  CHECK_EQUAL(hits() - before, times);
}

static void *run_blocked(void *blocker) {
  void (*block)(void);
  memcpy(&block, blocker, sizeof block);
  if (block != by_inheritance) {
    block();
  }
  uint64_t mask = kernel_mask();
  CHECK_EQUAL(mask & TRAPS, 0);
  CHECK((mask & USR1_BIT) != 0);
  sigset_t seen;
  pthread_sigmask(SIG_BLOCK, NULL, &seen);
  CHECK_EQUAL(sigismember(&seen, own_signal), block != by_setcontext);
  run_often(TRAPS_IN_TOTAL / BLOCKERS + 1);
  return NULL;
}

static void shouldRedirectAMillionTimesWithAllSignalsBlocked(void) {
  trapped_piece();
  sigfillset(&all);
  for (int i = 0; i < BLOCKERS; i++) {
    pthread_t thread;
    if (blockers[i] == by_inheritance) {
      sigprocmask(SIG_SETMASK, &all, NULL);
    }
    CHECK_EQUAL(pthread_create(&thread, NULL, run_blocked, (void *)&blockers[i]), 0);
    pthread_join(thread, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
  }
  CHECK(hits() >= TRAPS_IN_TOTAL);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  CHECK_EQUAL(pthread_attr_setsigmask_np(&attributes, &all), 0);
  pthread_create(&thread, &attributes, run_once, NULL);
  pthread_join(thread, NULL);
  CHECK_EQUAL(result, 77);
}

/* ---- code that libc calls */

static volatile int value_seen;
static void notified(union sigval given) {
  value_seen = given.sival_int;
  run_in_handler(0);
}

static void await_handled(int count) {
  while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) < count) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

static void shouldRedirectInTheFunctionOfATimer(void) {
  trapped_piece();
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
  struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
  for (int i = 1; i <= 3; i++) {
    timer_t timer;
    event.sigev_value.sival_int = i / 2; /* twice the same */
    result = 0;
    CHECK_EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    CHECK_EQUAL(timer_settime(timer, 0, &soon, NULL), 0);
    await_handled(i);
    CHECK_EQUAL(result, 77);
    CHECK_EQUAL(value_seen, i / 2);
    CHECK_EQUAL(mask_seen & TRAPS, 0);
    CHECK((mask_seen & USR1_BIT) != 0); /* otherwise there was nothing to guard against */
    timer_delete(timer);
  }
  CHECK_EQUAL(hits(), 3);
}

static void when_cancelled(void *unused) {
  (void)unused;
  run_in_handler(0);
}

static void *wait_for_cancellation(void *unused) {
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  pthread_cleanup_push(when_cancelled, NULL);
  handled = 1;
  ppoll(NULL, 0, NULL, &none);
  pthread_cleanup_pop(0);
  return unused;
}

static void shouldRedirectInTheCleanupOfAWaitThatIsCancelled(void) {
  trapped_piece();
  pthread_t thread;
  void *end;
  signal(own_signal, run_in_handler); /* so that a signal is not lost between here and the wait */
  pthread_create(&thread, NULL, wait_for_cancellation, NULL);
  await_handled(1);
  pthread_cancel(thread);
  pthread_join(thread, &end);
  CHECK(end == PTHREAD_CANCELED);
  CHECK_EQUAL(handled, 2);
  CHECK_EQUAL(result, 77);
  CHECK_EQUAL(mask_seen & TRAPS, 0);
}

/* ---- in calls that wait with another mask, which unblocks one signal; its handler runs the piece under
 * that mask */

static sigset_t but_usr1;
static struct timespec forever = {100, 0};
static int poll_file;

static int in_sigsuspend(void) { return sigsuspend(&but_usr1); }
static int in_ppoll(void) { return ppoll(NULL, 0, &forever, &but_usr1); }
static int in_pselect(void) { return pselect(0, NULL, NULL, NULL, &forever, &but_usr1); }
static int in_epoll_pwait(void) {
  struct epoll_event event;
  return epoll_pwait(poll_file, &event, 1, 100000, &but_usr1);
}
static int in_epoll_pwait2(void) {
  struct epoll_event event;
  return epoll_pwait2(poll_file, &event, 1, &forever, &but_usr1);
}
static int in_raw_sigsuspend(void) { return (int)syscall(SYS_rt_sigsuspend, &but_usr1, 8L); }
static int in_raw_ppoll(void) { return (int)syscall(SYS_ppoll, NULL, 0L, &forever, &but_usr1, 8L); }
static int in_raw_pselect(void) {
  struct {
    void *set;
    size_t size;
  } mask = {&but_usr1, 8};
  return (int)syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &forever, &mask);
}
static int in_raw_epoll_pwait(void) {
  struct epoll_event event;
  return (int)syscall(SYS_epoll_pwait, poll_file, &event, 1L, 100000L, &but_usr1, 8L);
}
static int in_sigpause(void) { return sigpause(SIGUSR1); }

static int (*const waits[])(void) = {
    in_sigsuspend,     in_ppoll,     in_pselect,     in_epoll_pwait,     in_epoll_pwait2,
    in_raw_sigsuspend, in_raw_ppoll, in_raw_pselect, in_raw_epoll_pwait, in_sigpause,
};

static void shouldRedirectInHandlersThatInterruptAWait(void) {
  trapped_piece();
  sigfillset(&all);
  poll_file = epoll_create1(0);
  CHECK(poll_file >= 0);
  signal(SIGUSR1, run_in_handler);
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  for (int round = 0; round < 4; round++) {
    const sigset_t *mask = round & 1 ? &usr1 : &all; /* the wait blocks the signal, or the thread does */
    const sigset_t *inner = round & 1 ? &all : &usr1;
    but_usr1 = *inner;
    sigdelset(&but_usr1, SIGUSR1);
    signal(own_signal, round & 2 ? run_in_handler : SIG_DFL);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
      for (int n = 0; n < 100; n++) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        raise(SIGUSR1);
        result = 0;
        CHECK_EQUAL(waits[i](), -1);
        CHECK_EQUAL(errno, EINTR);
        CHECK_EQUAL(result, 77);
        CHECK_EQUAL(mask_seen & TRAPS, 0);
        CHECK_EQUAL(kernel_mask() & (TRAPS | USR1_BIT), USR1_BIT);
        sigset_t seen;
        sigprocmask(SIG_SETMASK, NULL, &seen);
        CHECK_EQUAL(sigismember(&seen, own_signal), !(round & 1));
      }
    }
  }
  CHECK_EQUAL(handled, 4000);
}

/* ---- costs: printed, not asserted */

static int by_number(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static void shouldTellWhatATrapCosts(void) {
  enum { N = 20000 };
  static uint64_t costs[N];
  trapped_piece();
  struct place untrapped = copy_piece();
  uint64_t best = ~0ULL;
  for (int i = 0; i < N; i++) {
    uint64_t start = __rdtsc();
    CHECK_EQUAL(value(untrapped), 42);
    uint64_t end = __rdtsc();
    best = end - start < best ? end - start : best;
  }
  for (int i = 0; i < N; i++) {
    uint64_t start = __rdtsc();
    CHECK_EQUAL(value(place), 77);
    costs[i] = __rdtsc() - start - best;
  }
  qsort(costs, N, sizeof costs[0], by_number);
  printf("        a redirected trap: %" PRIu64 " tsc (median), %" PRIu64 " (best), %" PRIu64 " (99 %%)\n", costs[N / 2],
         costs[0], costs[N * 99 / 100]);
  CHECK_EQUAL(hits(), N);
  fflush(stdout);
}

static double nanos_per_call(int (*function)(int, const sigset_t *, sigset_t *), const sigset_t *set) {
  enum { ROUNDS = 20, N = 20000 };
  uint64_t best = ~0ULL;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t start = clock_nanos(CLOCK_MONOTONIC);
    for (int i = 0; i < N / 2; i++) {
      function(SIG_BLOCK, set, NULL);
      function(SIG_UNBLOCK, set, NULL);
    }
    uint64_t took = clock_nanos(CLOCK_MONOTONIC) - start;
    best = took < best ? took : best;
  }
  return (double)best / N;
}

static void shouldTellWhatMasksCost(void) {
  trapped_piece();
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigfillset(&all);
  printf("        a change of the mask, one signal: %.1f ns, libc's %.1f; all signals: %.1f ns, libc's %.1f\n",
         nanos_per_call(pthread_sigmask, &usr1), nanos_per_call(next()->pthread_sigmask, &usr1),
         nanos_per_call(pthread_sigmask, &all), nanos_per_call(next()->pthread_sigmask, &all));
  fflush(stdout);
}

/* Each with the other byte as well. */
#define WITH_NO_INSTRUCTION(function)            \
  static void function##WithNoInstruction(void) { \
    trapping_byte = NO_INSTRUCTION;              \
    own_signal = SIGILL;                         \
    function();                                  \
  }
WITH_NO_INSTRUCTION(shouldCallAsTheInstructionDoes)
WITH_NO_INSTRUCTION(shouldJump)
WITH_NO_INSTRUCTION(shouldFindEachRowOfAChain)
WITH_NO_INSTRUCTION(shouldRetryUntilTheTrappingByteHasGone)
WITH_NO_INSTRUCTION(shouldRedirectInHandlersThatBlockAllOnAlternateStacks)
WITH_NO_INSTRUCTION(shouldRedirectInTheApplicationsOwnHandlerOfTheSignal)
WITH_NO_INSTRUCTION(shouldRedirectInForkedAndVforkedChildren)
WITH_NO_INSTRUCTION(shouldUnblockWhatTheProcessInherited)
WITH_NO_INSTRUCTION(shouldRedirectWhileTheShimItselfBlocksSignals)
WITH_NO_INSTRUCTION(shouldRedirectAMillionTimesWithAllSignalsBlocked)
WITH_NO_INSTRUCTION(shouldRedirectInTheFunctionOfATimer)
WITH_NO_INSTRUCTION(shouldRedirectInTheCleanupOfAWaitThatIsCancelled)
WITH_NO_INSTRUCTION(shouldRedirectInHandlersThatInterruptAWait)
WITH_NO_INSTRUCTION(shouldTellWhatATrapCosts)

static void ignore(int signal) { (void)signal; }

/* A JVM that starts in a forked child finds no action of the parent's. */
static void shouldForgetTheJvmsActionsInAForkedChild(void) {
  fixture(true);
  jvm_actions[SIGSEGV].sa_handler = ignore;
  signals_forked();
  CHECK(jvm_actions[SIGSEGV].sa_handler == SIG_DFL);
}

#define TEST(function) {#function, function}
#define BOTH(function) TEST(function), TEST(function##WithNoInstruction)
TESTS(BOTH(shouldCallAsTheInstructionDoes), BOTH(shouldJump), BOTH(shouldFindEachRowOfAChain),
      BOTH(shouldRetryUntilTheTrappingByteHasGone), TEST(shouldSpinUntilTheTrappingByteHasGone),
      BOTH(shouldRedirectInHandlersThatBlockAllOnAlternateStacks),
      BOTH(shouldRedirectInTheApplicationsOwnHandlerOfTheSignal), BOTH(shouldRedirectInForkedAndVforkedChildren),
      BOTH(shouldUnblockWhatTheProcessInherited), BOTH(shouldRedirectWhileTheShimItselfBlocksSignals),
      BOTH(shouldRedirectAMillionTimesWithAllSignalsBlocked), BOTH(shouldRedirectInTheFunctionOfATimer),
      BOTH(shouldRedirectInTheCleanupOfAWaitThatIsCancelled), BOTH(shouldRedirectInHandlersThatInterruptAWait),
      BOTH(shouldTellWhatATrapCosts), TEST(shouldTellWhatMasksCost),
      TEST(shouldForgetTheJvmsActionsInAForkedChild))

/* A handler that runs probed functions, at every instruction of a probed call, one after the other, by the trap flag.
 *
 * arguments: returns|leaves  how the handler ends; it leaves by siglongjmp
 *            ticks           that a handler takes
 *            warm|first      the call is one of many of its thread, or the first, which takes the slow paths
 *            stride          from one instruction to the next that is looked at
 *            alone|clients|told
 *                            a client at each probe; or waits for a line, so that somebody can ask for metrics */
#define _GNU_SOURCE
#include "conformance/counted.h"

#include <fastinst.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>
#include <x86intrin.h>

#define TRAP_FLAG 0x100
/* No call has as many: the trap flag would not have been cleared. */
#define INSTRUCTIONS_MAX 100000
/* Calls take different paths. All paths are done when this many calls in a row had fewer instructions. */
#define LEFT_BEHIND 20

static __thread volatile long left;
static __thread volatile bool delivered;
static __thread sigjmp_buf target;
static bool leaves;
static unsigned long long handler_ticks;
static volatile long wrong, jumps;

PROBED void wait_in_handler(void) {
  COUNTED;
  for (unsigned long long begin = __rdtsc(); __rdtsc() - begin < handler_ticks;) {
  }
}

PROBED long handled(long x) {
  COUNTED;
  wait_in_handler();
  OPAQUE(x);
  return x + 1;
}

PROBED long inner(long x) {
  COUNTED;
  OPAQUE(x);
  return x + 1;
}

PROBED long outer(long x) {
  COUNTED;
  long y = inner(x);
  OPAQUE(y);
  return y * 2;
}

enum { CLIENTS_MAX = 64 };

static struct fastinst_metadata probes[CLIENTS_MAX];
static volatile unsigned long runs[CLIENTS_MAX];

static UNPROBED void client(fastinst_probe probe, void *function) {
  (void)function;
  __atomic_fetch_add(&runs[probe], 1, __ATOMIC_RELAXED);
}

static UNPROBED void remember(const struct fastinst_metadata *metadata, void *argument) {
  (void)argument;
  if (metadata->probe >= CLIENTS_MAX) exit(2);
  probes[metadata->probe] = *metadata;
  if (fastinst_activate(metadata->probe, client) != FASTINST_OK) exit(2);
}

static UNPROBED void write_clients(void) {
  uint64_t skipped;
  if (fastinst_skipped(&skipped) != FASTINST_OK) exit(2);
  printf("skipped %lu\n", (unsigned long)skipped);
  for (int i = 0; i < CLIENTS_MAX; i++) {
    if (runs[i] > 0) printf("%s %s %lu\n", probes[i].kind == FASTINST_ENTRY ? "entry" : "exit", probes[i].name, runs[i]);
  }
}

static UNPROBED void on_trap(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (left-- > 0) return;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  delivered = true;
  if (handled(left) != left + 1) wrong++;
  if (leaves) {
    jumps++;
    siglongjmp(target, 1);
  }
}

/* The call, stepped. */
static UNPROBED __attribute__((noinline)) void round_of(long instruction) {
  left = instruction;
  delivered = false;
  if (sigsetjmp(target, 1) != 0) return;
  __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
  long result = outer(instruction);
  __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
  if (result != (instruction + 1) * 2) wrong++;
}

struct first_call {
  long instruction;
  bool delivered;
};

static UNPROBED void *call_first(void *argument) {
  struct first_call *call = argument;
  round_of(call->instruction);
  call->delivered = delivered;
  return NULL;
}

int main(int count, char **arguments) {
  COUNTED;
  if (count != 6) return 2;
  leaves = strcmp(arguments[1], "leaves") == 0;
  handler_ticks = strtoull(arguments[2], NULL, 10);
  bool first = strcmp(arguments[3], "first") == 0;
  long stride = atol(arguments[4]);
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  bool has_clients = strcmp(arguments[5], "clients") == 0;
  if (has_clients) {
    if (fastinst_wait(0, 60000) != FASTINST_OK) return 2;
    fastinst_discover(0, remember, NULL);
  } else if (strcmp(arguments[5], "told") == 0) {
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF) return 2;
  }
  outer(0);
  handled(0);
  long seen = 0;
  int behind = 0;
  for (long instruction = 0; behind < LEFT_BEHIND && instruction < INSTRUCTIONS_MAX; instruction += stride) {
    bool more;
    if (first) {
      struct first_call call = {instruction, false};
      pthread_t thread;
      if (pthread_create(&thread, NULL, call_first, &call) != 0) return 2;
      pthread_join(thread, NULL);
      more = call.delivered;
    } else {
      round_of(instruction);
      more = delivered;
    }
    behind = more ? 0 : behind + 1;
    seen = more ? instruction + 1 : seen;
  }
  printf("instructions %ld wrong %ld jumps %ld\n", seen, wrong, jumps);
  if (has_clients) write_clients();
  return wrong != 0;
}

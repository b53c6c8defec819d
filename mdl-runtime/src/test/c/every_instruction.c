/* A handler that runs probed functions, at every instruction of a probed call, one after the other, by the trap flag.
 *
 * arguments: returns|leaves  how the handler ends; it leaves by siglongjmp
 *            ticks           that a handler takes
 *            warm|first      the call is one of many of its thread, or the first, which takes the slow paths
 *            stride          from one instruction to the next that is looked at */
#define _GNU_SOURCE
#include "conformance/counted.h"

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
/* Not each call takes the same path: so many have been left behind in a row when all paths have. */
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
  if (count != 5) return 2;
  leaves = strcmp(arguments[1], "leaves") == 0;
  handler_ticks = strtoull(arguments[2], NULL, 10);
  bool first = strcmp(arguments[3], "first") == 0;
  long stride = atol(arguments[4]);
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
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
  return wrong != 0;
}

/*
 * What a timed call must leave as it is: registers and stacks of any kind, for whoever looks through them. Prints what it has
 * found, and how often each function was called.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define PROBED __attribute__((noinline, noclone))

enum { TIMES = 1000, STACK_BYTES = 1 << 16, LONGEST = 300, JUMPS = 1000000 };

/* ---- a collector: the callee-saved registers, then the stack */

static uint64_t *stack_end;
static uint64_t looked;

PROBED uint64_t is_visible(uint64_t inverted) {
  uint64_t registers[6];
  looked++;
  __asm__ volatile("mov %%rbx,(%0); mov %%rbp,8(%0); mov %%r12,16(%0); mov %%r13,24(%0); mov %%r14,32(%0); mov %%r15,40(%0)"
                   :
                   : "r"(registers)
                   : "memory");
  for (volatile uint64_t *word = registers; (uint64_t *)word < stack_end; word++) {
    if (~*word == inverted) {
      return 1;
    }
  }
  return 0;
}

/* The number itself is in RBX alone. */
uint64_t hold(uint64_t inverted, uint64_t (*look)(uint64_t));
__asm__(".text\n.type hold,@function\nhold:\n.cfi_startproc\npush %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx,0\n"
        "mov %rdi,%rbx\nnot %rbx\ncall *%rsi\npop %rbx\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size hold,.-hold\n");

/* ---- functions that leave for each other, on stacks of all kinds */

static uint64_t steps;

PROBED uint64_t odd(uint64_t n, uint64_t sum);
PROBED uint64_t even(uint64_t n, uint64_t sum) {
  steps++;
  return n == 0 ? sum : odd(n - 1, sum + n);
}
PROBED uint64_t odd(uint64_t n, uint64_t sum) {
  steps++;
  return n == 0 ? sum : even(n - 1, sum + 1);
}

static uint64_t all_lengths(void) {
  uint64_t sum = 0;
  for (uint64_t n = 0; n <= LONGEST; n++) {
    sum = 31 * sum + even(n, n);
  }
  return sum;
}

static volatile uint64_t result;

static void handler(int signal_number) {
  (void)signal_number;
  result = all_lengths();
}

static uint64_t on_signal_stack(void) {
  stack_t alternate = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&alternate, NULL);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  alternate.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, NULL);
  free(alternate.ss_sp);
  return result;
}

static ucontext_t caller, coroutine;

static void body(void) { result = all_lengths(); }

static uint64_t on_stack(void *stack) {
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = STACK_BYTES;
  coroutine.uc_link = &caller;
  makecontext(&coroutine, body, 0);
  swapcontext(&caller, &coroutine);
  return result;
}

static uint64_t on_stack_that_is_freed(void) {
  void *stack = malloc(STACK_BYTES);
  uint64_t sum = on_stack(stack);
  free(stack);
  return sum;
}

static uint64_t on_stack_inside(void) {
  uint64_t stack[STACK_BYTES / sizeof(uint64_t)];
  uint64_t sum = on_stack(stack);
  __asm__ volatile("" : : "r"(stack) : "memory");
  return sum;
}

/* ---- a function that leaves for another library */

PROBED int leaves_for_library(const char *text) { return puts(text); }

static void *jumps(void *unused) {
  (void)unused;
  return (void *)even(JUMPS, 0);
}

int main(void) {
  uint64_t visible = 0;
  stack_end = __builtin_frame_address(0);
  for (uint64_t i = 1; i <= TIMES; i++) {
    visible += hold(i * 0x9E3779B97F4A7C15ULL, is_visible);
  }
  printf("visible %lu of %d\n", (unsigned long)visible, TIMES);
  printf("own %lx\n", (unsigned long)all_lengths());
  printf("signal %lx\n", (unsigned long)on_signal_stack());
  printf("coroutine %lx\n", (unsigned long)on_stack_that_is_freed());
  printf("again %lx\n", (unsigned long)on_stack_that_is_freed());
  printf("inside %lx\n", (unsigned long)on_stack_inside());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_t thread;
  void *sum;
  pthread_create(&thread, &attributes, jumps, NULL);
  pthread_join(thread, &sum);
  printf("jumps %lx\n", (unsigned long)sum);
  leaves_for_library("left");
  printf("calls is_visible %lu, even and odd %lu\n", (unsigned long)looked, (unsigned long)steps);
  return 0;
}

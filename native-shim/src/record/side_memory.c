/*
 * Assumes    A1 the owner of an area or a stack is a thread of this process, and thread pointers of living threads are unique
 * Guarantees G1 an area or a stack has one user until it is released, also in a forked child
 *            G2 a longjmp out of a handler loses its area or stack; if all are lost, slow paths use the program's stack
 * Progress   areas: no lock, no wait. Stacks: TRIES at most
 */
#include "record/side_memory.h"

#include "os/own_memory.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

enum { STACKS = 16, STACK_BYTES = 64 << 10, LINE = 64, TRIES = 1000 };

uint64_t side_owners[SIDE_AREAS];
uint64_t side_areas, side_area_bytes;

static uint64_t stack_owners[STACKS];
static uint64_t stacks;

void side_memory_start(uint64_t area_bytes) {
  uint64_t each = (area_bytes + LINE - 1) & ~(uint64_t)(LINE - 1), areas = each * SIDE_AREAS;
  if (stacks) {
    return;
  }
  void *memory = own_memory_map(NULL, STACKS * STACK_BYTES + areas, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, INHERITED);
  if (memory != MAP_FAILED) {
    side_area_bytes = each;
    __atomic_store_n(&stacks, (uintptr_t)memory, __ATOMIC_RELEASE);
    __atomic_store_n(&side_areas, (uintptr_t)memory + STACKS * STACK_BYTES, __ATOMIC_RELEASE);
  }
}

static uint64_t self(void) { return (uintptr_t)__builtin_thread_pointer(); }

static void release_others(uint64_t *owners, int count) {
  for (int i = 0; i < count; i++) {
    if (owners[i] != self()) {
      owners[i] = 0;
    }
  }
}

void side_memory_forked(void) {
  release_others(side_owners, SIDE_AREAS);
  release_others(stack_owners, STACKS);
}

/* In record/calls.S. */
void side_stack_switch(void (*function)(uint64_t), uint64_t argument, uint64_t top);

static bool call_on_stack(int number, void (*function)(uint64_t), uint64_t argument) {
  uint64_t nobody = 0;
  if (__atomic_load_n(&stack_owners[number], __ATOMIC_RELAXED) != 0 ||
      !__atomic_compare_exchange_n(&stack_owners[number], &nobody, self(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return false;
  }
  side_stack_switch(function, argument, stacks + (uint64_t)(number + 1) * STACK_BYTES);
  __atomic_store_n(&stack_owners[number], 0, __ATOMIC_RELEASE);
  return true;
}

void side_stack_call(void (*function)(uint64_t), uint64_t argument) {
  for (int tries = 0; __atomic_load_n(&stacks, __ATOMIC_ACQUIRE) && tries < TRIES; tries++) {
    for (int i = 0; i < STACKS; i++) {
      if (call_on_stack(i, function, argument)) {
        return;
      }
    }
    sched_yield();
  }
  function(argument);
}

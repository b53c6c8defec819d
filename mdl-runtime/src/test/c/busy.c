/* Calls two functions over and over: `steady` always takes the same time, `changing` as many steps as the build says. */
#include <stdio.h>

#ifndef STEPS
#define STEPS 400
#endif

__attribute__((noinline)) static unsigned busy(unsigned state, int steps) {
  for (int i = 0; i < steps; i++) {
    state = state * 1664525u + 1013904223u;
    __asm__ volatile("" : "+r"(state));
  }
  return state;
}

__attribute__((noinline)) unsigned steady(unsigned state) { return busy(state, 400); }

__attribute__((noinline)) unsigned changing(unsigned state) { return busy(state, STEPS); }

int main(void) {
  unsigned state = 1;
  for (int i = 0; i < 60000; i++) {
    state = changing(steady(state));
  }
  printf("%u\n", state);
  return 0;
}

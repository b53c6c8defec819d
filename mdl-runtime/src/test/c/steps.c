/* Counts its steps in a global, as often as a line of stdin says, and ends by exit at the first 0. */
#include <stdio.h>
#include <stdlib.h>

int timeSteps;

__attribute__((noinline)) void step(void) {
  __asm__ volatile("");
  timeSteps++;
}

int main(void) {
  int times;
  puts("ready");
  fflush(stdout);
  while (scanf("%d", &times) == 1) {
    if (times == 0) {
      exit(3);
    }
    for (int i = 0; i < times; i++) {
      step();
    }
    puts("done");
    fflush(stdout);
  }
  return 1;
}

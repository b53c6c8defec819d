/* Calls of all kinds, as often as a line of stdin says. */
#include <stdio.h>
#include <stdlib.h>

extern int from_library(int i);

__attribute__((noinline)) int work(int i) {
  __asm__ volatile("");
  return 2 * i;
}

__attribute__((noinline)) int twice(int i) { return work(i) + work(i + 1) + 1; }

__attribute__((noinline)) int once(int i) { return work(i) + 1; }

__attribute__((noinline)) int imported(int i) { return from_library(i) + 1; }

__attribute__((noinline)) int last(int i) { return work(i + 3); }

static int (*volatile pointer)(int) = work;

__attribute__((noinline)) int by_pointer(int i) { return pointer(i) + 1; }

__attribute__((noinline)) int absolute(int i) { return abs(i) + atoi("3") + 1; }

/* Calls itself n times. */
__attribute__((noinline, optimize("no-optimize-sibling-calls"))) int again(int n) {
  __asm__ volatile("");
  return n == 0 ? 0 : again(n - 1) + work(n) + 1;
}

int main(void) {
  int times;
  int sum = 0;
  puts("ready");
  fflush(stdout);
  while (scanf("%d", &times) == 1) {
    for (int i = 0; i < times; i++) {
      sum += twice(i) + once(i) + imported(i) + last(i) + by_pointer(i) + absolute(i) + again(3);
    }
    puts("done");
    fflush(stdout);
  }
  return sum == 42;
}

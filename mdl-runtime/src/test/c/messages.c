/* The program of the MDL paper's example: foo and bar send messages, as often as a line of stdin says. */
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) int pvm_send(int tid, int tag) {
  __asm__ volatile("");
  return tid + tag;
}

__attribute__((noinline)) int pvm_recv(int tid, int tag) {
  __asm__ volatile("");
  return tid - tag;
}

int latest;
long history[2];

__attribute__((noinline)) int foo(int i) {
  latest = -i;
  history[1] = 3L * i;
  return pvm_send(i, 1) + pvm_send(i, 2) + pvm_recv(i, 3);
}

__attribute__((noinline)) int bar(int i) { return pvm_send(i, 4) + 1; }

int main(void) {
  int times;
  int sum = 0;
  puts("ready");
  fflush(stdout);
  while (scanf("%d", &times) == 1) {
    for (int i = 0; i < times; i++) {
      sum += foo(i) + bar(i);
    }
    puts("done");
    fflush(stdout);
  }
  return sum == 42;
}

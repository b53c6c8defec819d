/* Functions of which GCC makes copies at -O3, called as often as a line of stdin says. */
#include <stdio.h>

volatile int sink;

__attribute__((noinline)) static int scale(int *values, int by, int mode) {
  int sum = 0;
  for (int i = 0; i < 8; i++) {
    sum += mode == 1 ? values[i] * by : mode == 2 ? values[i] / by : values[i] % by + sum;
  }
  sink = sum;
  return sum;
}

__attribute__((noinline)) int often(int *values, int i) { return scale(values, i, 1) + 1; }

__attribute__((noinline)) int other(int *values, int i) { return scale(values, i, 2) + 1; }

__attribute__((noinline)) int any(int *values, int i, int mode) { return scale(values, i, mode) + 1; }

int main(int argc, char **argv) {
  int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int times;
  puts("ready");
  fflush(stdout);
  while (scanf("%d", &times) == 1) {
    for (int i = 1; i <= times; i++) {
      often(values, i);
      often(values, i);
      other(values, i);
      any(values, i, argc);
    }
    puts("done");
    fflush(stdout);
  }
}

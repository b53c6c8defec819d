/* Calls within calls of the same function, directly and by way of another, and a main that its children return from, too. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;
static volatile int sum;

__attribute__((noinline)) int fib(int n) {
  int result = n < 2 ? n : fib(n - 1) + fib(n - 2);
  sum += result;
  return result;
}

__attribute__((noinline)) void odd(int n);

__attribute__((noinline)) void even(int n) {
  sum++;
  if (n > 0) {
    odd(n - 1);
  }
  sum++;
}

__attribute__((noinline)) void odd(int n) {
  sum++;
  if (n > 0) {
    even(n - 1);
  }
  sum++;
}

/* The frames of the inner calls are left over. */
__attribute__((noinline)) void jump(int n) {
  if (n == 0) {
    longjmp(back, 1);
  }
  jump(n - 1);
  sum++;
}

__attribute__((noinline)) void leaf(void) { sum++; }

int main(void) {
  for (int i = 0; i < 20; i++) {
    fib(12);
    even(50);
    if (setjmp(back) == 0) {
      jump(5);
    }
    leaf();
  }
  for (int i = 0; i < 3; i++) {
    if (fork() == 0) {
      leaf();
      return 0;
    }
    wait(NULL);
  }
  return 0;
}

/* Calls work() a thousand times, becomes another user where it may, and calls it a thousand times more. */
#include <unistd.h>

volatile int done;

__attribute__((noinline)) void work(void) { done = done + 1; }

int main(void) {
  for (int i = 0; i < 1000; i++) {
    work();
  }
  if (setgid(65534) == 0 && setuid(65534) == 0) {
    done = -1000;
  }
  for (int i = 0; i < 1000; i++) {
    work();
  }
  return 0;
}

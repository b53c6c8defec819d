/* Two processes that wait for each other: a byte goes to and fro, and whoever has it works for some 0.2 ms. They end with their
 * input. */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 100000 };

static volatile unsigned sink;

__attribute__((noinline)) void work(void) {
  for (unsigned i = 0; i < STEPS; i++) {
    sink += i;
  }
}

static int is_over(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  char byte;
  return poll(&input, 1, 0) == 1 && read(0, &byte, 1) == 0;
}

int main(void) {
  int there[2], back[2];
  char byte = 0;
  if (pipe(there) < 0 || pipe(back) < 0) {
    return 1;
  }
  if (fork() == 0) {
    close(there[1]);
    while (read(there[0], &byte, 1) == 1) {
      work();
      if (write(back[1], &byte, 1) != 1) {
        break;
      }
    }
    _exit(0);
  }
  close(there[0]);
  while (!is_over() && write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1) {
    work();
  }
  close(there[1]);
  return wait(NULL) < 0;
}

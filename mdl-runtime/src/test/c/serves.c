/* A server: main calls serve once, which calls handle for each line of stdin. */
#include <stdio.h>

static char line[80];

__attribute__((noinline)) int handle(void) {
  __asm__ volatile("");
  return puts("done");
}

__attribute__((noinline)) int serve(void) {
  int handled = 0;
  while (fgets(line, sizeof line, stdin)) {
    handled += handle() >= 0;
    fflush(stdout);
  }
  return handled;
}

int main(void) {
  puts("ready");
  fflush(stdout);
  return serve() == 42;
}

/* Says that it runs, and waits to be killed. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}

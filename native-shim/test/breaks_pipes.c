/* Ends with 1 when a write to a pipe succeeds although its other end has been closed: then somebody has a
 * copy of it. */
#include <signal.h>
#include <unistd.h>

enum { PIPES = 32, ROUNDS = 24 /* some milliseconds, in which the agent starts */ };

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  for (int round = 0; round < ROUNDS; round++) {
    int ends[PIPES][2];
    for (int i = 0; i < PIPES; i++) {
      if (pipe(ends[i]) != 0) {
        return 2;
      }
    }
    for (int i = 0; i < PIPES; i++) {
      close(ends[i][0]);
      if (write(ends[i][1], "x", 1) == 1) {
        return 1;
      }
      close(ends[i][1]);
    }
  }
  return 0;
}

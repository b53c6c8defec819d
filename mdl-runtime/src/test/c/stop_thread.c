/* Stops a thread (seize.h), and prints "stopped"; lets it go on at the end of standard input, and prints "released". */
#include "seize.h"

int main(int argc, char **argv) {
  int thread = seize(argc, argv);
  if (!thread) return 2;
  puts("stopped");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  if (ptrace(PTRACE_DETACH, thread, 0, 0)) return 3;
  puts("released");
  return 0;
}

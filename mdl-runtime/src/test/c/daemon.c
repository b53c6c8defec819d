/* Becomes a daemon at once: the first process exits, its child goes on for as long as the file that the argument names is there. */
#include <stdlib.h>
#include <unistd.h>

static volatile long sink;
__attribute__((noinline)) void work(long x) { sink += x; }

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (fork() != 0) _exit(0);
  setsid();
  while (access(argv[1], F_OK) == 0) {
    work(1);
    usleep(1000);
  }
  return 5;
}

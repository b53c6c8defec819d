/* An environment is the program's to change, without a lock. Whoever reads this one meanwhile dies of SIGSEGV. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char **before = environ;
  long millis = argc > 1 ? atol(argv[1]) : 0;
  environ = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  nanosleep(&(struct timespec){millis / 1000, millis % 1000 * 1000000}, NULL);
  environ = before;
  return 0;
}

/* An environment is the program's to change, without a lock. Whoever reads this one dies of SIGSEGV, until there is a file of
 * the name that the argument says. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char **before = environ;
  if (argc < 2) return 2;
  environ = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  while (access(argv[1], F_OK) != 0) nanosleep(&(struct timespec){0, 10000000}, NULL);
  environ = before;
  return 0;
}

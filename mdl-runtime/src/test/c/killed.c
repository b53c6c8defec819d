/* Calls work() until it is killed; argv[1] names a file that holds, as a 64-bit word, how many calls have returned. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void work(volatile uint64_t *sink) { *sink = *sink * 3 + 1; }

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096)) return 2;
  volatile uint64_t *done = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (done == MAP_FAILED) return 2;
  puts("ready");
  fflush(stdout);
  uint64_t sink = 0;
  for (uint64_t i = 1;; i++) {
    work(&sink);
    *done = i;
  }
}

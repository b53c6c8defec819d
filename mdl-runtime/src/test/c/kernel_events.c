/*
 * kernel_events FEW MANY NAPS: prints "ready", awaits a line, and touches FEW new pages of memory in touch_few, as many in a
 * forked process, MANY in a thread in touch_many, and sleeps NAPS times in nap. All pages are touched by touch_pages.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

enum { PAGE = 4096 };

static volatile char *new_pages(size_t count) {
  void *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    exit(2);
  }
  madvise(pages, count * PAGE, MADV_NOHUGEPAGE);
  return pages;
}

CALLED static void touch_pages(volatile char *pages, size_t count) {
  for (size_t i = 0; i < count; i++) {
    pages[i * PAGE] = 1;
  }
}

CALLED static void touch_few(size_t count) { touch_pages(new_pages(count), count); }

CALLED static void *touch_many(void *count) {
  touch_pages(new_pages((size_t)count), (size_t)count);
  return NULL;
}

CALLED static void nap(long count) {
  for (long i = 0; i < count; i++) {
    usleep(100);
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  char line[16];
  if (argc != 4) {
    return 2;
  }
  puts("ready");
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin)) {
    return 2;
  }
  size_t few = strtoul(argv[1], NULL, 10);
  touch_few(few);
  pid_t child = fork();
  if (child == 0) {
    touch_few(few);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  pthread_create(&thread, NULL, touch_many, (void *)strtoul(argv[2], NULL, 10));
  pthread_join(thread, NULL);
  nap(strtol(argv[3], NULL, 10));
  return 0;
}

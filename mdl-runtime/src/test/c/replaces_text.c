/*
 * replaces_text HOW MILLISECONDS [MORE]: replaces its text by other memory while it runs, as programs do to get huge pages. It
 * sleeps for MILLISECONDS first, repeats the replacement MORE times, a millisecond apart, and then opens a library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
/* What is replaced: a page for each function. */
#define WORKING __attribute__((section("working"), noipa, aligned(4096)))
enum { PAGE = 4096, ROUNDS = 2000, THREADS = 2 };

WORKING static uint64_t leaf(uint64_t x) { return x * 2654435761u >> 3; }

WORKING static uint64_t branch(uint64_t x) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 10; i++) {
    sum += leaf(x + i);
  }
  return sum;
}

WORKING static uint64_t deep(uint64_t x, int depth) {
  return depth == 0 ? branch(x) : deep(x + 1, depth - 1) ^ branch(x);
}

WORKING static uint64_t work(int rounds) {
  uint64_t sum = 0;
  for (int i = 0; i < rounds; i++) {
    sum += branch((uint64_t)i) + deep((uint64_t)i, 5);
  }
  return sum;
}

static volatile int stop;

static void *run(void *unused) {
  (void)unused;
  uint64_t sum = 0;
  while (!stop) {
    sum ^= work(10);
  }
  return (void *)sum;
}

static void nap(long millis) {
  struct timespec time = {millis / 1000, millis % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* ---- while nobody executes it */

static long call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static int over_it(char *text, size_t length, char *copy) {
  for (size_t i = 0; i < length; i++) {
    ((volatile char *)copy)[i] = text[i];
  }
  if (call(SYS_mmap, (long)text, (long)length, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) != (long)text) {
    return 1;
  }
  call(SYS_madvise, (long)text, (long)length, MADV_HUGEPAGE, 0, 0, 0);
  for (size_t i = 0; i < length; i++) {
    ((volatile char *)text)[i] = copy[i];
  }
  return (int)call(SYS_mprotect, (long)text, (long)length, PROT_READ | PROT_EXEC, 0, 0, 0);
}

/* Bytes that are there already: what it writes to must stay as it is, and be its own. */
static int in_place(char *text, size_t length) {
  if (call(SYS_mprotect, (long)text, (long)length, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0) != 0) {
    return 1;
  }
  for (int times = 0; times < 20; times++) {
    for (size_t i = 0; i < length; i += 64) {
      volatile char *byte = text + i;
      *byte = *byte;
    }
  }
  return (int)call(SYS_mprotect, (long)text, (long)length, PROT_READ | PROT_EXEC, 0, 0, 0);
}

/* ---- the others do it at once, under running threads */

static int by_moving(char *text, size_t length, char *copy) {
  memcpy(copy, text, length);
  mprotect(copy, length, PROT_READ | PROT_EXEC);
  return mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, text) == text ? 0 : 1;
}

static int by_advice(char *text, size_t length) {
  madvise(text, length, MADV_HUGEPAGE);
  madvise(text, length, MADV_COLLAPSE);
  return madvise(text, length, MADV_DONTNEED);
}

/* All of it, or a part. */
static size_t choose(int part, char **text) {
  char *const functions[] = {(char *)leaf, (char *)branch, (char *)deep, (char *)work};
  char *low = functions[part], *high = functions[part];
  for (int i = part; i < (part ? 3 : 4); i++) {
    low = functions[i] < low ? functions[i] : low;
    high = functions[i] > high ? functions[i] : high;
  }
  *text = low;
  return (size_t)(high - low) + PAGE;
}

int main(int count, char **arguments) {
  (void)count;
  const char *how = arguments[1];
  int times = count > 3 ? 1 + atoi(arguments[3]) : 1, failed = 0;
  pthread_t threads[THREADS];
  int threaded = strcmp(how, "move") == 0 || strcmp(how, "advise") == 0;
  uint64_t sum = work(ROUNDS);
  for (int i = 0; threaded && i < THREADS; i++) {
    pthread_create(&threads[i], NULL, run, NULL);
  }
  nap(atoi(arguments[2]));
  for (int time = 0; time < times; time++) {
    char *text;
    size_t length = choose(time % 2, &text);
    char *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    failed |= strcmp(how, "over") == 0    ? over_it(text, length, copy)
              : strcmp(how, "write") == 0 ? in_place(text, length)
              : strcmp(how, "move") == 0  ? by_moving(text, length, copy)
                                          : by_advice(text, length);
    sum = sum * 31 + work(ROUNDS);
    failed |= dlopen("libresolv.so.2", RTLD_NOW) == NULL; /* whoever follows the dynamic linker has something to look at */
    nap(1);
  }
  nap(150);
  sum = sum * 31 + work(ROUNDS);
  stop = 1;
  for (int i = 0; threaded && i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  printf("%s %d %016lx\n", how, failed, sum);
  return 11;
}

/*
 * forked_memory CHILDREN SEED: each child maps, allocates, gives back and runs threads, by chance, and compares what it has with
 * what it has written. Prints how many were right. The program has a probe in each function and forks from a thread, too. Children
 * are made by fork, vfork, clone and posix_spawn: those of vfork and clone map only, as they may.
 * forked_memory SEED: is such a child.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 240, STEPS = 90, THREADS_MAX = 16, PAGE = 4096, LEFT = 16 << 10 };

static struct block {
  unsigned char *at; /* NULL: there is none */
  size_t bytes;
  unsigned char fill;
  int is_mapped;
} blocks[BLOCKS];

static uint64_t state;

static uint64_t random_below(uint64_t limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state * 0x2545F4914F6CDD1DULL >> 32) % limit;
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  _exit(1);
}

static void make(struct block *block) {
  block->is_mapped = random_below(3) != 0;
  block->bytes = block->is_mapped ? (1 + random_below(random_below(24) ? 5 : 300)) * PAGE
                                  : 1 + random_below(random_below(24) ? 2000 : 200000);
  block->fill = (unsigned char)random_below(256);
  block->at = block->is_mapped
                  ? mmap(NULL, block->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : malloc(block->bytes);
  if (block->at == MAP_FAILED || !block->at) {
    fail("no memory");
  }
  memset(block->at, block->fill, block->bytes);
}

static void compare(const struct block *block) {
  for (size_t i = 0; i < block->bytes; i++) {
    if (block->at[i] != block->fill) {
      fail("memory differs");
    }
  }
}

static void drop(struct block *block) {
  compare(block);
  if (block->is_mapped) {
    munmap(block->at, block->bytes);
  } else {
    free(block->at);
  }
  block->at = NULL;
}

/* Its stack down to near its end, and memory of its own. */
static void *work(void *pointer) {
  pthread_attr_t attributes;
  void *low;
  size_t bytes;
  char *own = malloc(5000);
  memset(own, 7, 5000);
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  for (uintptr_t at = (uintptr_t)&attributes - LEFT; at >= (uintptr_t)low + LEFT; at -= 16 * PAGE) {
    *(volatile char *)at = 1;
  }
  for (int i = 0; i < 5000; i++) {
    if (own[i] != 7) {
      fail("a thread's memory differs");
    }
  }
  free(own);
  return pointer;
}

static void run_threads(void) {
  static const size_t sizes[] = {64 << 10, 256 << 10, 1 << 20, 1 << 20, 2 << 20, 8 << 20};
  pthread_t threads[THREADS_MAX];
  pthread_attr_t attributes;
  int count = 1 + (int)random_below(THREADS_MAX);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, sizes[random_below(sizeof sizes / sizeof *sizes)]);
  if (random_below(2)) {
    pthread_attr_setguardsize(&attributes, 0);
  }
  for (int i = 0; i < count; i++) {
    if (pthread_create(&threads[i], &attributes, work, NULL) != 0) {
      fail("no thread");
    }
  }
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
  }
}

static void live(uint64_t seed) {
  state = seed * 0x9E3779B97F4A7C15ULL + 1;
  memset(blocks, 0, sizeof blocks);
  for (int i = 0; i < BLOCKS / 2; i++) {
    make(&blocks[i]);
  }
  for (int step = 0; step < STEPS; step++) {
    struct block *block = &blocks[random_below(BLOCKS)];
    if (random_below(30) == 0) {
      run_threads();
    } else if (block->at) {
      drop(block);
    } else {
      make(block);
    }
  }
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].at) {
      drop(&blocks[i]);
    }
  }
}

/* Without libc's memory and threads, and without variables that are the parent's, too. */
static int map_and_compare(void *seed) {
  enum { MAPPINGS = 60 };
  unsigned char *at[MAPPINGS];
  for (int i = 0; i < MAPPINGS; i++) {
    size_t bytes = (size_t)(1 + i % 7) * PAGE;
    at[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at[i] == MAP_FAILED) {
      return 2;
    }
    memset(at[i], i + (int)(uintptr_t)seed, bytes);
  }
  int differ = 0;
  for (int i = 0; i < MAPPINGS; i++) {
    size_t bytes = (size_t)(1 + i % 7) * PAGE;
    for (size_t j = 0; j < bytes; j++) {
      differ |= at[i][j] != (unsigned char)(i + (int)(uintptr_t)seed);
    }
    munmap(at[i], bytes);
  }
  return differ;
}

static pid_t clone_child(uint64_t seed) {
  enum { BYTES = 256 << 10 };
  static char stacks[2][BYTES]; /* of main and of the thread */
  char *top = stacks[getpid() == gettid()] + BYTES;
  return clone(map_and_compare, top, SIGCHLD, (void *)(uintptr_t)seed);
}

static pid_t spawn_child(uint64_t seed) {
  extern char **environ;
  char number[24];
  pid_t child;
  snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
  char *arguments[] = {"forked_memory", number, NULL};
  return posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0 ? child : -1;
}

/* Each second one has children of its own, each fifth ends by exit(). */
static void live_and_fork(uint64_t seed) {
  live(seed);
  int status = 0;
  if (seed % 2) {
    pid_t own = fork();
    if (own == 0) {
      live(~seed);
      _exit(0);
    }
    waitpid(own, &status, 0);
  }
  if (seed % 5 == 0) {
    exit(status != 0);
  }
  _exit(status != 0);
}

/* Few are executed: each starts an agent. */
static pid_t make_child(uint64_t seed) {
  if (seed % 40 == 10) {
    return spawn_child(seed);
  }
  if (seed % 10 == 3 || seed % 10 == 4) {
    return clone_child(seed);
  }
  if (seed % 10 == 7 || seed % 10 == 8) {
    pid_t child = vfork();
    if (child == 0) {
      _exit(map_and_compare((void *)(uintptr_t)seed));
    }
    return child;
  }
  pid_t child = fork();
  if (child == 0) {
    live_and_fork(seed);
  }
  return child;
}

static int fork_and_compare(uint64_t seed) {
  int status;
  pid_t child = make_child(seed);
  if (child < 0) {
    fail("no child");
  }
  waitpid(child, &status, 0);
  if (status) {
    fprintf(stderr, "child %llu ended with 0x%x\n", (unsigned long long)seed, status);
  }
  return status == 0;
}

static int children;
static uint64_t seed;
static int right;

static void *fork_some(void *pointer) {
  for (int i = 0; i < children / 2; i++) {
    right += fork_and_compare(seed + (uint64_t)i);
  }
  return pointer;
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc < 3) {
    live((uint64_t)atoll(argv[1]));
    return 0;
  }
  children = atoi(argv[1]);
  seed = (uint64_t)atoll(argv[2]);
  pthread_create(&thread, NULL, fork_some, NULL);
  pthread_join(thread, NULL);
  for (int i = children / 2; i < children; i++) {
    right += fork_and_compare(seed + (uint64_t)i);
  }
  printf("right: %d of %d\n", right, children);
  return right != children;
}

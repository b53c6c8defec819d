/*
 * Has run for a while when the agent comes. Ends with status 3 when a system call is interrupted.
 *
 *   w N   main and each of the threads call work() N times; prints the calls
 *   l     opens libz, or closes it; prints "opened" or "closed"
 *   s     sets a handler for SIGSEGV and faults; prints "caught"
 *   q     ends with status 7
 *
 * With an argument, one more thread blocks all signals for ever. Ends with status 4 when they are no longer blocked.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { THREADS = 4, INTERRUPTED = 3, UNBLOCKED = 4, ENDED = 7 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rounds, wanted, done;
static sigjmp_buf before_fault;

__attribute__((noinline)) int work(int number) {
  int sum = number;
  for (int i = 0; i < 20; i++) {
    sum = sum * 31 + i;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}

__attribute__((noinline)) int work_often(int times) {
  int sum = 0;
  for (int i = 0; i < times; i++) {
    sum += work(i);
  }
  return sum;
}

static void *serve(void *unused) {
  pthread_mutex_lock(&mutex);
  for (int seen = 0;; seen = rounds) {
    while (rounds == seen) {
      pthread_cond_wait(&changed, &mutex);
    }
    int times = wanted;
    pthread_mutex_unlock(&mutex);
    work_often(times);
    pthread_mutex_lock(&mutex);
    done++;
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

static void *block_all(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (;;) {
    work_often(1000);
    usleep(1000);
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (!sigismember(&now, SIGTRAP) || !sigismember(&now, SIGUSR1)) {
      exit(UNBLOCKED);
    }
  }
  return unused;
}

static void work_in_all(int times) {
  pthread_mutex_lock(&mutex);
  wanted = times;
  done = 0;
  rounds++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  work_often(times);
  pthread_mutex_lock(&mutex);
  while (done < THREADS) {
    pthread_cond_wait(&changed, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  printf("%d\n", times * (THREADS + 1));
}

static void on_fault(int number) {
  (void)number;
  siglongjmp(before_fault, 1);
}

static void fault(void) {
  signal(SIGSEGV, on_fault);
  if (sigsetjmp(before_fault, 1) == 0) {
    *(volatile int *)16 = 1;
  }
  printf("caught\n");
}

static void open_or_close(void) {
  static void *library;
  if (library) {
    dlclose(library);
    library = NULL;
    printf("closed\n");
  } else {
    library = dlopen("libz.so.1", RTLD_NOW);
    unsigned long (*bound)(unsigned long) = library ? (unsigned long (*)(unsigned long))dlsym(library, "compressBound") : NULL;
    printf(bound && bound(1) ? "opened\n" : "failed\n");
  }
}

static void read_line(int events, char *line, size_t capacity) {
  struct epoll_event event;
  if (epoll_wait(events, &event, 1, -1) < 0) {
    exit(INTERRUPTED);
  }
  ssize_t length = read(0, line, capacity - 1);
  line[length > 0 ? length : 0] = 0;
}

int main(int count, char **words) {
  char line[64];
  pthread_t thread;
  (void)words;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&thread, NULL, serve, NULL);
  }
  if (count > 1) {
    pthread_create(&thread, NULL, block_all, NULL);
  }
  int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(events, EPOLL_CTL_ADD, 0, &event);
  printf("ready\n");
  for (;;) {
    read_line(events, line, sizeof line);
    switch (line[0]) {
      case 'w': work_in_all(atoi(line + 1)); break;
      case 'l': open_or_close(); break;
      case 's': fault(); break;
      default: exit(ENDED);
    }
  }
}

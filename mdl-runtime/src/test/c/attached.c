/*
 * Has run for a while when the agent comes. Ends with status 3 when a system call is interrupted, and with status 6 when
 * work() returns another value than it should.
 *
 *   w N   main and each of the threads call work() N times; prints the calls
 *   f N   a forked process calls work() N times; prints its status
 *   l     opens libz, or closes it; prints "opened" or "closed"
 *   s     sets a handler for SIGSEGV and faults; prints "caught"
 *   q     ends with status 7
 *
 * blocked         one more thread blocks all signals for ever. Ends with status 4 when they are no longer blocked
 * denying         a seccomp filter denies some system calls, as in containers
 * ending          a seccomp filter kills the process at any system call that the program itself does not make
 * ending-thread   the same of one more thread
 */
#include <errno.h>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, INTERRUPTED = 3, UNBLOCKED = 4, UNFILTERED = 5, WRONG = 6, ENDED = 7 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rounds, wanted, done;
static sigjmp_buf before_fault;

static inline __attribute__((always_inline)) unsigned value_of(unsigned number) {
  unsigned sum = number;
  for (unsigned i = 0; i < 20; i++) {
    sum = sum * 31 + i;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}

__attribute__((noinline)) unsigned work(unsigned number) { return value_of(number); }

__attribute__((noinline)) unsigned work_often(int times) {
  unsigned sum = 0;
  for (int i = 0; i < times; i++) {
    unsigned value = work((unsigned)i);
    sum += value;
    if (value != value_of((unsigned)i)) {
      _exit(WRONG);
    }
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

/* Calls with one of these numbers get one result, all others another. */
static void filter(const int *numbers, size_t count, uint32_t result, uint32_t otherwise) {
  struct sock_filter code[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned short length = 1;
  for (size_t i = 0; i < count; i++) {
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[i], 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
  struct sock_fprog program = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    exit(UNFILTERED);
  }
}

static void deny_some(void) {
  static const int denied[] = {SYS_perf_event_open, SYS_unshare, SYS_mount, SYS_ptrace, SYS_bpf};
  filter(denied, sizeof denied / sizeof *denied, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
}

static void end_at_others(void) {
  static const int made[] = {SYS_read, SYS_write, SYS_epoll_wait, SYS_futex, SYS_exit_group, SYS_rt_sigprocmask,
                             SYS_clock_nanosleep};
  filter(made, sizeof made / sizeof *made, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
}

static void *sleep_under_a_filter(void *unused) {
  pthread_mutex_lock(&mutex);
  end_at_others();
  done++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  for (;;) {
    usleep(1000);
  }
  return unused;
}

static void add_threads(const char *kind) {
  pthread_t thread;
  if (strcmp(kind, "blocked") == 0) {
    pthread_create(&thread, NULL, block_all, NULL);
  } else if (strcmp(kind, "ending-thread") == 0) {
    pthread_create(&thread, NULL, sleep_under_a_filter, NULL);
    pthread_mutex_lock(&mutex);
    while (done == 0) {
      pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
  }
}

static void confine(const char *kind) {
  if (strcmp(kind, "denying") == 0) {
    deny_some();
  } else if (strcmp(kind, "ending") == 0) {
    end_at_others();
  }
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

static void work_in_a_child(int times) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    work_often(times);
    _exit(0);
  }
  waitpid(child, &status, 0);
  printf("%d\n", status);
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
  const char *kind = count > 1 ? words[1] : "";
  static char buffer[4096];
  setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&thread, NULL, serve, NULL);
  }
  add_threads(kind);
  int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(events, EPOLL_CTL_ADD, 0, &event);
  confine(kind);
  printf("ready\n");
  for (;;) {
    read_line(events, line, sizeof line);
    switch (line[0]) {
      case 'w': work_in_all(atoi(line + 1)); break;
      case 'f': work_in_a_child(atoi(line + 1)); break;
      case 'l': open_or_close(); break;
      case 's': fault(); break;
      default: exit(ENDED);
    }
  }
}

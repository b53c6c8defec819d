/* Functions that the shim interposes, in a program with another libc. Prints what it has seen; exits with
 * 7. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static _Atomic int timer_calls;

static void handle(int number) { handled += number; }

static void count_call(union sigval value) { timer_calls += value.sival_int; }

static void signals(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, old;
  sigset_t all, before;
  sigfillset(&action.sa_mask);
  for (int number = 1; number < 32; number++) {
    if (number != SIGKILL && number != SIGSTOP) {
      handled = 0;
      int set = sigaction(number, &action, NULL), got = sigaction(number, NULL, &old);
      raise(number);
      printf("%d: %d %d %d %d %x\n", number, set, got, handled, old.sa_handler == handle, (unsigned)old.sa_flags & ~0x04000000u);
    }
  }
  handled = 0;
  sigfillset(&all);
  printf("mask %d", pthread_sigmask(SIG_SETMASK, &all, &before));
  raise(SIGTRAP);
  raise(SIGUSR1);
  printf(" %d", handled);
  sigpending(&all);
  printf(" %d %d", sigismember(&all, SIGTRAP), sigismember(&all, SIGUSR1));
  printf(" %d", sigsuspend(&before));
  printf(" %d", sigprocmask(SIG_SETMASK, &before, NULL));
  printf(" %d\n", handled);
  signal(SIGUSR2, SIG_IGN);
  sigemptyset(&all);
  printf("waits %d %d %d\n", ppoll(NULL, 0, &(struct timespec){0}, &all), pselect(0, NULL, NULL, NULL, &(struct timespec){0}, &all),
         epoll_pwait(-1, NULL, 1, 0, &all));
}

static void jumps(void) {
  jmp_buf plain;
  sigjmp_buf with_mask;
  volatile int turns = 0;
  memset(&plain, 0x5a, sizeof plain);
  int value = setjmp(plain);
  if (turns++ < 3) longjmp(plain, turns);
  printf("jump %d", value);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  turns = 0;
  value = sigsetjmp(with_mask, 1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (turns++ < 3) siglongjmp(with_mask, turns);
  sigprocmask(SIG_UNBLOCK, &set, &set);
  printf(" %d %d\n", value, sigismember(&set, SIGTRAP));
}

static void *run(void *argument) {
  if (argument) pthread_exit(argument);
  return (void *)&handled;
}

static void threads(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, run, i ? (void *)(long)i : NULL);
    pthread_join(thread, &result);
    printf("thread %d\n", i ? (int)(long)result : result == &handled);
  }
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = count_call, .sigev_value.sival_int = 1};
  printf("timer %d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
  timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, NULL);
  while (timer_calls != 1) usleep(1000);
}

static int count_images(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  *(int *)count += strstr(info->dlpi_name, "libmdlagent") == NULL;
  return 0;
}

static void last_words(void) { puts("atexit"); }

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  signals();
  jumps();
  threads();
  struct tm day;
  struct rlimit limit;
  time_t birthday = 1000000000;
  setenv("TZ", "UTC", 1);
  tzset();
  int images = 0;
  dl_iterate_phdr(count_images, &images);
  printf("%s %s %d %d %d\n", getenv("TZ"), setlocale(LC_ALL, ""), localtime_r(&birthday, &day)->tm_year, images,
         dlopen("nowhere.so", RTLD_NOW) == NULL);
  printf("%d %d %ld\n", getrlimit(RLIMIT_NOFILE, &limit), setrlimit(RLIMIT_NOFILE, &limit), syscall(SYS_getppid) - getppid());
  printf("%d %ld\n", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  for (int i = 0; i < 3; i++) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      if (i == 0) _exit(3);
      if (i == 1) exit(4);
      signal(SIGABRT, SIG_DFL);
      abort();
    }
    waitpid(child, &status, 0);
    printf("child %x\n", (unsigned)status);
  }
  atexit(last_words);
  fflush(NULL);
  return 7;
}

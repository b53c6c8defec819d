/* The functions that the shim interposes, resolved by RTLD_NEXT: nearly always libc's. */
#ifndef MDL_NEXT_H
#define MDL_NEXT_H

#include <langinfo.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>

struct next {
  int (*sigaction)(int, const struct sigaction *, struct sigaction *);
  void (*(*signal)(int, void (*)(int)))(int);
  void (*(*sysv_signal)(int, void (*)(int)))(int);
  void (*(*sigset)(int, void (*)(int)))(int);
  int (*siginterrupt)(int, int);
  int (*sigprocmask)(int, const sigset_t *, sigset_t *);
  int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
  int (*pthread_attr_setsigmask_np)(pthread_attr_t *, const sigset_t *);
  int (*timer_create)(clockid_t, struct sigevent *, timer_t *);
  int (*sigsuspend)(const sigset_t *);
  int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
  int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
  int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
  int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
  int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
  int (*sigpending)(sigset_t *);
  int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
  int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
  int (*sigwait)(const sigset_t *, int *);
  int (*save_jump)(struct __jmp_buf_tag *, int);
  void (*jump)(struct __jmp_buf_tag *, int);
  void (*jump_checked)(struct __jmp_buf_tag *, int);
  int (*setcontext)(const ucontext_t *);
  int (*swapcontext)(ucontext_t *, const ucontext_t *);
  int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  int (*thrd_create)(thrd_t *, thrd_start_t, void *);
  void (*exit)(int);
  void (*quick_exit)(int);
  void (*_exit)(int);
  void (*abort)(void);
  int (*execve)(const char *, char *const[], char *const[]);
  int (*execvpe)(const char *, char *const[], char *const[]);
  int (*fexecve)(int, char *const[], char *const[]);
  int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                     char *const[]);
  int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                      char *const[]);
  int (*cxa_atexit)(void (*)(void *), void *, void *);
  char *(*getenv)(const char *);
  char *(*secure_getenv)(const char *);
  char *(*setlocale)(int, const char *);
  char *(*nl_langinfo)(nl_item);
  void (*tzset)(void);
  struct tm *(*localtime_r)(const time_t *, struct tm *);
  struct tm *(*gmtime_r)(const time_t *, struct tm *);
  int (*setuid)(uid_t);
  int (*seteuid)(uid_t);
  int (*setreuid)(uid_t, uid_t);
  int (*setresuid)(uid_t, uid_t, uid_t);
  int (*setgid)(gid_t);
  int (*setegid)(gid_t);
  int (*setregid)(gid_t, gid_t);
  int (*setresgid)(gid_t, gid_t, gid_t);
  int (*fflush)(FILE *);
  FILE *(*fopen)(const char *, const char *);
  void *(*dlopen)(const char *, int);
  int (*dl_find_object)(void *, struct dl_find_object *);
  int (*backtrace)(void **, int);
  int (*dl_iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
  int (*dlclose)(void *);
};

extern struct next next_table;
void next_resolve(void);

/* Works before this library's constructor has run, because constructors of other libraries run first. */
static inline const struct next *next(void) {
  if (__builtin_expect(next_table.sigaction == NULL, 0)) {
    next_resolve();
  }
  return &next_table;
}

#endif

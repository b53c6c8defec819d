/* Programs whose exit status and output transparency.sh compares, with the agent and without. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL); }

static void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) {
    _exit(90);
  }
}

/* ---- ends */

static int returns(void) { return 3; }
static int exits(void) {
  printf("buffered");
  exit(7);
}
static int ends_at_once(void) {
  printf("lost");
  _exit(5);
}
static int ends_quickly(void) { quick_exit(6); }
static int aborts(void) { abort(); }
static void at_exit_handler(void) { say("atexit\n"); }
static int runs_handlers(void) {
  atexit(at_exit_handler);
  return 0;
}
static void *exit_in_thread(void *unused) {
  (void)unused;
  exit(11);
}
static int exits_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, exit_in_thread, NULL);
  pthread_join(thread, NULL);
  return 1;
}
static void *work(void *unused) {
  nap();
  say("worker\n");
  return unused;
}
static int work_c11(void *unused) {
  work(unused);
  return 0;
}
static int main_leaves(void) {
  printf("flushed by exit");
  pthread_exit(NULL);
}
static int main_leaves_workers(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
  }
  pthread_exit(NULL);
}
static int main_leaves_c11_worker(void) {
  thrd_t thread;
  thrd_create(&thread, work_c11, NULL);
  pthread_exit(NULL);
}
static pthread_key_t key;
static void key_destructor(void *unused) {
  (void)unused;
  say("thread-specific data\n");
}
static void *with_key(void *unused) {
  pthread_setspecific(key, &key);
  return unused;
}
static int main_leaves_worker_with_destructor(void) {
  pthread_t thread;
  pthread_key_create(&key, key_destructor);
  pthread_create(&thread, NULL, with_key, NULL);
  pthread_exit(NULL);
}

/* ---- faults */

static int segv(void) {
  *(volatile int *)16 = 1;
  return 0;
}
static int bus(void) {
  FILE *file = tmpfile();
  char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  *(volatile char *)at = 1;
  return 0;
}
static int fpe(void) {
  volatile int zero = 0;
  return 1 / zero;
}
static int ill(void) {
  __asm__ volatile("ud2");
  return 0;
}
static int trap(void) {
  __asm__ volatile("int3");
  return 0;
}
static void *fault_in_thread(void *unused) {
  segv();
  return unused;
}
static int segv_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, fault_in_thread, NULL);
  pthread_join(thread, NULL);
  return 1;
}
static int overflow_here(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return depth < 0 ? 0 : overflow_here(depth + 1) + room[0];
}
static int overflows(void) { return overflow_here(0); }
static int sent(int signal_number) {
  kill(getpid(), signal_number);
  nap();
  return 1;
}
static int sent_segv(void) { return sent(SIGSEGV); }
static int sent_term(void) { return sent(SIGTERM); }
static int sent_usr2(void) { return sent(SIGUSR2); }
static int sent_quit(void) { return sent(SIGQUIT); }
static int sent_hup(void) { return sent(SIGHUP); }
static int sent_trap(void) { return sent(SIGTRAP); }
static int breaks_pipe(void) {
  int ends[2];
  if (pipe(ends) == 0) {
    close(ends[0]);
    return (int)write(ends[1], "x", 1);
  }
  return 1;
}
static int exceeds_file_size(void) {
  struct rlimit limit = {10, 10};
  setrlimit(RLIMIT_FSIZE, &limit);
  FILE *file = tmpfile();
  return (int)write(fileno(file), "01234567890123456789", 20) + (int)write(fileno(file), "x", 1);
}

static sigjmp_buf back;
static volatile sig_atomic_t handled;
static void jump_back(int signal_number) {
  handled++;
  siglongjmp(back, signal_number);
}
static void count_one(int signal_number) {
  (void)signal_number;
  handled++;
}
static void describe(int signal_number, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  char text[128];
  snprintf(text, sizeof text, "signal %d code %d address %p mask %d\n", signal_number, info->si_code,
           info->si_code > 0 ? info->si_addr : NULL, sigismember(&c->uc_sigmask, SIGUSR1));
  say(text);
  siglongjmp(back, 1);
}
static int handles_faults_with(void (*install)(int)) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static int (*const faults[])(void) = {segv, bus, fpe, ill};
  for (int i = 0; i < 4; i++) {
    install(signals[i]);
    for (int n = 0; n < 300; n++) {
      if (sigsetjmp(back, 1) == 0) {
        faults[i]();
      }
    }
  }
  printf("%d handled\n", (int)handled);
  return 0;
}
static void install_sigaction(int s) { sigaction(s, &(struct sigaction){.sa_handler = jump_back}, NULL); }
static void install_signal(int s) { signal(s, jump_back); }
static int handles_faults(void) { return handles_faults_with(install_sigaction); }
static int handles_faults_by_signal(void) { return handles_faults_with(install_signal); }
static int describes_fault(void) {
  struct sigaction action = {.sa_sigaction = describe, .sa_flags = SA_SIGINFO};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  sigaction(SIGSEGV, &action, NULL);
  if (sigsetjmp(back, 1) == 0) {
    *(volatile int *)0x1234 = 1;
  }
  if (sigsetjmp(back, 1) == 0) {
    raise(SIGSEGV);
  }
  return 0;
}
static int handles_overflow_on_other_stack(void) {
  static char stack[65536];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  sigaction(SIGSEGV, &(struct sigaction){.sa_handler = jump_back, .sa_flags = SA_ONSTACK}, NULL);
  for (volatile int i = 0; i < 3; i++) {
    if (sigsetjmp(back, 1) == 0) {
      overflows();
    }
  }
  printf("%d overflows\n", (int)handled);
  return 0;
}
static int handles_once(void) {
  sigaction(SIGSEGV, &(struct sigaction){.sa_handler = count_one, .sa_flags = (int)SA_RESETHAND}, NULL);
  raise(SIGSEGV);
  printf("%d handled\n", (int)handled);
  fflush(stdout);
  return segv();
}
static int ignores(void) {
  static const int signals[] = {SIGSEGV, SIGFPE, SIGTERM, SIGUSR2, SIGHUP, SIGPIPE};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    signal(signals[i], SIG_IGN);
    kill(getpid(), signals[i]);
  }
  nap();
  return 4;
}
static int ignored_fault_kills(void) {
  signal(SIGSEGV, SIG_IGN);
  return segv();
}
static int blocked_fault_kills(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  signal(SIGSEGV, count_one);
  return segv();
}
static int queries(void) {
  for (int s = 1; s < 32; s++) {
    struct sigaction action;
    if (sigaction(s, NULL, &action) == 0 && (action.sa_handler != SIG_DFL || action.sa_flags != 0)) {
      printf("%d is set: flags %x\n", s, (unsigned)action.sa_flags);
    }
  }
  struct sigaction mine = {.sa_handler = count_one, .sa_flags = SA_NODEFER}, seen;
  sigaddset(&mine.sa_mask, SIGHUP);
  sigaction(SIGBUS, &mine, NULL);
  sigaction(SIGBUS, NULL, &seen);
  printf("%d %x %d %d\n", seen.sa_handler == count_one, (unsigned)seen.sa_flags, sigismember(&seen.sa_mask, SIGHUP),
         sigismember(&seen.sa_mask, SIGINT));
  printf("%d\n", signal(SIGBUS, SIG_DFL) == count_one);
  printf("%d\n", sigset(SIGFPE, count_one) == SIG_DFL);
  printf("%d\n", sigset(SIGFPE, SIG_HOLD) == count_one);
  printf("%d\n", sigset(SIGFPE, SIG_DFL) == SIG_HOLD);
  printf("%d\n", signal(99, SIG_DFL) == SIG_ERR && errno == EINVAL);
  printf("%d\n", sigaction(SIGKILL, &mine, NULL) == -1 && errno == EINVAL);
  sigset_t mask;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  for (int s = 1; s < 65; s++) {
    if (sigismember(&mask, s) == 1) {
      printf("%d is blocked\n", s);
    }
  }
  return 0;
}
static int waits_for_signal(void) {
  sigset_t set;
  int got = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  kill(getpid(), SIGTERM);
  sigwait(&set, &got);
  printf("%d\n", got);
  return 0;
}
static int handles_many_signals(void) {
  static const int signals[] = {SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGINT, SIGQUIT, SIGSEGV};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    signal(signals[i], count_one);
  }
  for (int n = 0; n < 100; n++) {
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
      kill(getpid(), signals[i]);
      while (handled != n * 7 + (int)i + 1) {
        nap();
      }
    }
  }
  printf("%d\n", (int)handled);
  return 0;
}

/* ---- processes */

static int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("status 0x%x\n", (unsigned)status);
  return 0;
}
static int forks_and_exits(void) {
  pid_t child = fork();
  if (child == 0) {
    exit(9);
  }
  return wait_for(child);
}
static int forks_and_faults(void) {
  pid_t child = fork();
  if (child == 0) {
    segv();
  }
  return wait_for(child);
}
static int forks_and_handles(void) {
  pid_t child = fork();
  if (child == 0) {
    _exit(handles_faults() + 13);
  }
  return wait_for(child);
}
static int forks_and_works(void) {
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    pthread_exit(NULL);
  }
  return wait_for(child);
}
static int forks_often(void) {
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (child == 0) {
      char *memory = malloc(100000);
      memset(memory, 1, 100000);
      void *library = dlopen("libm.so.6", RTLD_NOW);
      time_t now = 0;
      struct tm local;
      localtime_r(&now, &local);
      _exit(library && dlsym(library, "cos") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    if (status) {
      printf("status 0x%x\n", (unsigned)status);
    }
  }
  return 0;
}
static int daemon_like(void) {
  pid_t child = fork();
  if (child == 0) {
    nap();
    say("child\n");
    _exit(0);
  }
  waitpid(child, NULL, 0);
  _exit(2);
}
static int vforks_and_executes(void) {
  pid_t child = vfork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    execl("/bin/sh", "sh", "-c", "exit 21", (char *)NULL);
    _exit(1);
  }
  return wait_for(child);
}
static int vfork_child_keeps_its_signals(void) {
  signal(SIGFPE, count_one);
  pid_t child = vfork();
  if (child == 0) {
    signal(SIGFPE, SIG_DFL);
    _exit(0);
  }
  wait_for(child);
  raise(SIGFPE);
  printf("%d\n", (int)handled);
  return 0;
}
static int spawns(void) {
  pid_t child;
  char *const command[] = {"sh", "-c", "echo spawned; exit 4", NULL};
  posix_spawn(&child, "/bin/sh", NULL, NULL, command, environ);
  return wait_for(child);
}
static int calls_system(void) { return system("echo a | cat; exit 3") >> 8; }

static int child_outlives_parent(void) {
  if (fork() == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    _exit(12);
  }
  _exit(2);
}

/* ---- state */

char *outer(void);

/* A library that only the RUNPATH of the caller finds. */
static int dlopens_by_runpath(void) {
  printf("%s\n", outer());
  return 0;
}
static void *same_user(void *unused) {
  return seteuid(geteuid()) == 0 ? unused : &key;
}
/* Each thread of the process must take part. */
static int sets_user(void) {
  pthread_t thread;
  void *result;
  nap();
  pthread_create(&thread, NULL, same_user, NULL);
  pthread_join(thread, &result);
  printf("%d %d\n", setgid(getgid()) + setuid(getuid()), result == NULL);
  return 0;
}

static void list_descriptors(void) {
  for (int file = 0; file < 1024; file++) {
    if (fcntl(file, F_GETFD) >= 0) {
      printf("descriptor %d\n", file);
    }
  }
}
static int shows_state(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("files %llu locale %s\n", (unsigned long long)limit.rlim_cur, setlocale(LC_ALL, NULL));
  char directory[4096];
  printf("%s\n", getcwd(directory, sizeof directory));
  printf("%o\n", (unsigned)umask(0));
  list_descriptors();
  return 0;
}
static int closes_all(void) {
  for (int file = 3; file < 1024; file++) {
    close(file);
  }
  nap();
  list_descriptors();
  return 0;
}
static int closes_standard(void) {
  close(0);
  close(1);
  close(2);
  nap();
  int file = open("/dev/null", O_RDWR);
  return 30 + file;
}
static int pipe_ends_when_closed(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) {
    return 1;
  }
  nap();
  close(ends[1]);
  return (int)read(ends[0], &byte, 1); /* 0, unless somebody else keeps the other end open */
}

static const struct {
  const char *name;
  int (*run)(void);
} programs[] = {
#define PROGRAM(function) {#function, function}
    PROGRAM(returns), PROGRAM(exits), PROGRAM(ends_at_once), PROGRAM(ends_quickly), PROGRAM(aborts),
    PROGRAM(runs_handlers), PROGRAM(exits_in_thread), PROGRAM(main_leaves), PROGRAM(main_leaves_workers),
    PROGRAM(main_leaves_c11_worker), PROGRAM(main_leaves_worker_with_destructor), PROGRAM(segv), PROGRAM(bus),
    PROGRAM(fpe), PROGRAM(ill), PROGRAM(trap), PROGRAM(segv_in_thread), PROGRAM(overflows), PROGRAM(sent_segv),
    PROGRAM(sent_term), PROGRAM(sent_usr2), PROGRAM(sent_quit), PROGRAM(sent_hup), PROGRAM(sent_trap),
    PROGRAM(breaks_pipe), PROGRAM(exceeds_file_size), PROGRAM(handles_faults),
    PROGRAM(handles_faults_by_signal), PROGRAM(describes_fault), PROGRAM(handles_overflow_on_other_stack),
    PROGRAM(handles_once), PROGRAM(ignores), PROGRAM(ignored_fault_kills), PROGRAM(blocked_fault_kills),
    PROGRAM(queries), PROGRAM(waits_for_signal), PROGRAM(handles_many_signals), PROGRAM(forks_and_exits),
    PROGRAM(forks_and_faults), PROGRAM(forks_and_handles), PROGRAM(forks_and_works), PROGRAM(forks_often),
    PROGRAM(daemon_like), PROGRAM(child_outlives_parent), PROGRAM(vforks_and_executes),
    PROGRAM(vfork_child_keeps_its_signals), PROGRAM(spawns), PROGRAM(calls_system), PROGRAM(shows_state),
    PROGRAM(closes_all), PROGRAM(closes_standard), PROGRAM(pipe_ends_when_closed), PROGRAM(dlopens_by_runpath),
    PROGRAM(sets_user),
};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    if (argc < 2) {
      puts(programs[i].name);
    } else if (strcmp(argv[1], programs[i].name) == 0) {
      return programs[i].run();
    }
  }
  return argc < 2 ? 0 : 99;
}

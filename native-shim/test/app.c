/* Programs whose exit status and output transparency.sh and TransparencyIT compare with and without the
 * agent. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
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
/* By the system call: libc is not told. */
static _Noreturn void end_thread_by_instruction(long status) {
  for (;;) {
    __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(status) : "rcx", "r11", "memory");
  }
}
static int main_ends_by_instruction(void) { end_thread_by_instruction(7); }
static void *end_by_instruction(void *unused) {
  work(unused);
  end_thread_by_instruction(9); /* kernels differ in whose status the process gets: the last thread's, or main's */
}
static int main_ends_before_worker_by_instruction(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, end_by_instruction, NULL);
  end_thread_by_instruction(9);
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

static void *work_on(void *unused) {
  for (;;) {
    nap();
  }
  return unused;
}
static int main_returns_while_workers_run(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, work_on, NULL);
  }
  return 14;
}
static int executes(void) {
  printf("lost");
  execl("/bin/sh", "sh", "-c", "echo executed; exit 15", (char *)NULL);
  return 1;
}
static void *execute_in_thread(void *unused) {
  executes();
  return unused;
}
static int executes_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, execute_in_thread, NULL);
  pthread_join(thread, NULL);
  return 1;
}
static int is_killed(void) {
  kill(getpid(), SIGKILL);
  return 1;
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
/* Handlers installed before the JVM, which starts in this phase. */
static int handles_faults_later(void) {
  install_sigaction(SIGSEGV);
  install_signal(SIGFPE);
  nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
  for (volatile int n = 0; n < 1000; n++) {
    if (sigsetjmp(back, 1) == 0) {
      n % 2 ? segv() : fpe();
    }
  }
  printf("%d handled\n", (int)handled);
  return 0;
}
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
/* While the JVM sets its handlers. */
static int changes_handlers_often(void) {
  int wrong = 0;
  for (int n = 0; n < 40000; n++) {
    wrong += signal(SIGBUS, count_one) != SIG_DFL;
    wrong += signal(SIGBUS, SIG_DFL) != count_one;
    wrong += sigset(SIGFPE, count_one) != SIG_DFL;
    wrong += sigset(SIGFPE, SIG_HOLD) != count_one;
    wrong += sigset(SIGFPE, SIG_DFL) != SIG_HOLD;
  }
  printf("%d wrong\n", wrong);
  struct sigaction seen;
  for (int interrupts = 1; interrupts >= 0; interrupts--) {
    siginterrupt(SIGILL, interrupts);
    signal(SIGILL, count_one);
    sigaction(SIGILL, NULL, &seen);
    printf("%x\n", (unsigned)seen.sa_flags);
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
  fflush(stdout);
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
/* The child's signals must be as the attributes say. */
static int shows_inherited_signals(void) {
  sigset_t mask;
  struct sigaction user, trap;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  sigaction(SIGUSR1, NULL, &user);
  sigaction(SIGTRAP, NULL, &trap);
  printf("%d %d %d", sigismember(&mask, SIGTRAP), sigismember(&mask, SIGHUP), sigismember(&mask, SIGUSR2));
  printf(" %d %d %d\n", user.sa_handler == SIG_IGN, trap.sa_handler == SIG_DFL, getpgid(0) == getpid());
  return 6;
}
static int spawns_with_attributes(void) {
  pid_t child;
  posix_spawnattr_t attributes;
  sigset_t set;
  char *const command[] = {"app", "shows_inherited_signals", NULL};
  signal(SIGUSR1, SIG_IGN);
  signal(SIGTRAP, SIG_IGN);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  posix_spawnattr_setsigdefault(&attributes, &set);
  sigaddset(&set, SIGHUP);
  posix_spawnattr_setsigmask(&attributes, &set);
  posix_spawn(&child, "/proc/self/exe", NULL, &attributes, command, environ);
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

/* A library that is found only by the RUNPATH of the caller. */
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

static void *is_nobody(void *unused) {
  return getuid() == 65534 && geteuid() == 65534 && getgid() == 65534 ? unused : &key;
}
/* Permanently: no thread may remain root. */
static int drops_privileges(void) {
  pthread_t thread;
  void *result;
  printf("%d\n", setgid(65534) + setuid(65534));
  pthread_create(&thread, NULL, is_nobody, NULL);
  pthread_join(thread, &result);
  printf("%d %d\n", result == NULL, setuid(0) == -1 && errno == EPERM);
  return 0;
}
int capset(cap_user_header_t, const cap_user_data_t);
/* Capabilities are per thread, but setgroups changes those of all threads. */
static int drops_capability(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  syscall(SYS_capget, &header, data);
  data[0].effective &= ~(1u << CAP_SETGID);
  printf("%d", capset(&header, data));
  printf(" %d\n", setgroups(0, NULL));
  return 0;
}
static int changes_user_by_system_call(void) {
  syscall(SYS_setresuid, 65534L, 65534L, 65534L);
  printf("%d %d\n", geteuid() == 65534, setgroups(0, NULL));
  return 0;
}
static int changes_root(void) {
  char here[64];
  mkdir("root", 0700); /* may exist from an earlier run */
  if (chroot("root") != 0) {
    say("refused\n"); /* for ordinary users, and in some containers */
    return 0;
  }
  printf("%d", chdir("/"));
  nap();
  int file = open("/here", O_CREAT | O_WRONLY, 0600);
  printf(" %d %s %d\n", file >= 0, getcwd(here, sizeof here), unlink("/here"));
  printf("%d\n", open("/proc/self/exe", O_RDONLY) == -1 && errno == ENOENT);
  return 0;
}
/* The kernel permits this only to single-threaded processes. */
static int enters_user_namespace(void) {
  printf("%d\n", unshare(CLONE_NEWUSER));
  return 0;
}
static int enters_user_namespace_by_system_call(void) {
  printf("%ld\n", syscall(SYS_unshare, CLONE_NEWUSER));
  return 0;
}
static int joins_namespace(void) {
  int file = open("/proc/self/ns/user", O_RDONLY);
  printf("%d", setns(file, CLONE_NEWUSER));
  printf(" %d\n", errno == EINVAL); /* already in it, which the kernel checks after the number of threads */
  return 0;
}
static int filters_own_system_calls(void) {
  struct sock_filter refusal[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof refusal / sizeof refusal[0], refusal};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  printf("%ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0L, &program));
  printf("%ld", syscall(SYS_getppid));
  printf(" %d\n", errno == ENOTTY);
  nap();
  return 0;
}
/* A thread that makes any other system call is killed, and the process with it. */
static __attribute__((no_instrument_function)) void allow_few_system_calls(unsigned long flags) {
  static const unsigned allowed[] = {SYS_write, SYS_exit_group, SYS_rt_sigreturn, SYS_getpid, SYS_clock_nanosleep};
  enum { CALLS = sizeof allowed / sizeof allowed[0] };
  struct sock_filter code[CALLS + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < CALLS; i++) {
    code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (unsigned char)(CALLS - i), 0);
  }
  code[CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[CALLS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {CALLS + 3, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0) {
    _exit(98);
  }
}
static int filters_system_calls_of_all_threads(void) {
  allow_few_system_calls(SECCOMP_FILTER_FLAG_TSYNC);
  for (int i = 0; i < 100; i++) {
    nap();
  }
  say("sandboxed\n");
  _exit(16);
}
static int depth_of(int depth) { return depth ? 1 + depth_of(depth - 1) : 0; }
/* Its first probe comes when it may do next to nothing. */
static __attribute__((no_instrument_function)) void *filters_before_first_probe(void *unused) {
  (void)unused;
  allow_few_system_calls(0);
  say(depth_of(1000) == 1000 ? "alone in a sandbox\n" : "");
  _exit(22);
}
static int thread_filters_own_system_calls(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, filters_before_first_probe, NULL);
  pthread_join(thread, NULL);
  return 1;
}
static volatile int turn;
static __attribute__((no_instrument_function)) void *probed_in_turn(void *unused) {
  turn = -1; /* libc has finished starting the thread */
  while (turn != 1) {
  }
  turn = depth_of(1000) == 1000 ? 2 : 3;
  while (turn) {
  }
  return unused;
}
static jmp_buf above;
static void jumps_up(int depth) {
  if (depth == 0) {
    longjmp(above, 1);
  }
  jumps_up(depth - 1);
}
static void work_in_sandbox(void) {
  if (setjmp(above) == 0) {
    jumps_up(50);
  }
  turn = 1;
  while (turn == 1) {
  }
  say(depth_of(100000) == 100000 && turn == 2 ? "in a sandbox\n" : "");
}
static int forked_child_filters_system_calls(void) {
  pid_t child = fork();
  int status;
  if (child == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, probed_in_turn, NULL);
    while (turn != -1) {
    }
    allow_few_system_calls(SECCOMP_FILTER_FLAG_TSYNC);
    work_in_sandbox();
    _exit(23);
  }
  waitpid(child, &status, 0);
  printf("%x\n", status);
  return 0;
}

/* ---- a thread that gives up privileges; no other thread of its process may keep them */

static int tasks;

/* The thread's privileges: its status, root and namespaces. */
static void read_rights(const char *thread, char *rights, size_t size) {
  static const char *const lines[] = {"Uid:",    "Gid:",    "Groups:",     "CapInh:",  "CapPrm:",        "CapEff:",
                                      "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"};
  static const char *const namespaces[] = {"mnt", "net", "ipc", "uts", "user", "pid"};
  char path[300], line[4096];
  struct stat status;
  snprintf(path, sizeof path, "%s/status", thread);
  FILE *file = fdopen(openat(tasks, path, O_RDONLY), "r");
  size_t length = 0;
  while (fgets(line, sizeof line, file)) {
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
      if (strncmp(line, lines[i], strlen(lines[i])) == 0) {
        length += (size_t)snprintf(rights + length, size - length, "%s", line);
      }
    }
  }
  fclose(file);
  snprintf(path, sizeof path, "%s/root", thread);
  if (fstatat(tasks, path, &status, 0) == 0) {
    length += (size_t)snprintf(rights + length, size - length, "%lu %lu\n", status.st_dev, status.st_ino);
  }
  for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
    snprintf(path, sizeof path, "%s/ns/%s", thread, namespaces[i]);
    ssize_t read = readlinkat(tasks, path, line, sizeof line);
    length += (size_t)snprintf(rights + length, size - length, "%.*s\n", (int)(read > 0 ? read : 0), line);
  }
}
/* Counts the threads, and those whose privileges differ from main's. */
static void compare_rights(int *threads, int *others) {
  char of_main[8192], rights[8192], number[16];
  *threads = *others = 0;
  snprintf(number, sizeof number, "%d", getpid());
  read_rights(number, of_main, sizeof of_main);
  DIR *list = fdopendir(dup(tasks));
  rewinddir(list);
  for (struct dirent *entry; (entry = readdir(list));) {
    if (entry->d_name[0] != '.') {
      read_rights(entry->d_name, rights, sizeof rights);
      ++*threads;
      *others += strcmp(rights, of_main) != 0;
    }
  }
  closedir(list);
}
static int gives_up(long (*rights)(void), int keeps_agent) {
  int threads, others;
  tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  long result = rights();
  compare_rights(&threads, &others);
  printf("%ld, %d threads, %d of them with other rights\n", result, keeps_agent ? 0 : threads, others);
  return 0;
}
#define GIVES_UP(name, rights, keeps_agent)                      \
  static long rights_of_##name(void) { return rights; }          \
  static int name(void) { return gives_up(rights_of_##name, keeps_agent); }

static long filter_harmlessly(int by_prctl) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {1, code};
  return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                  : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0L, &program);
}
GIVES_UP(confines_by_filter, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) + filter_harmlessly(1), 0)
GIVES_UP(confines_by_filter_by_system_call, syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) + filter_harmlessly(0), 0)
GIVES_UP(confines_by_privileged_filter, filter_harmlessly(0), 0)
GIVES_UP(confines_by_no_new_privileges, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0)
/* Otherwise the kernel does not support Landlock. */
static long restrict_by_landlock(void) {
  uint64_t directories = 1 << 7; /* LANDLOCK_ACCESS_FS_MAKE_DIR */
  int rules = (int)syscall(444, &directories, sizeof directories, 0L);
  long result = syscall(446, rules, 0L);
  return result == 0 ? mkdir("landlocked", 0700) : -2;
}
GIVES_UP(confines_by_landlock, restrict_by_landlock(), 0)
static long change_root(void) {
  mkdir("root", 0700);
  return chroot("root") + (chdir("/") != 0);
}
GIVES_UP(confines_by_root, change_root() + setgid(65534) + setuid(65534), 0)
GIVES_UP(confines_by_root_by_system_call, mkdir("root", 0700) + syscall(SYS_chroot, "root") + chdir("/"), 0)
static long pivot(void) {
  mkdir("root", 0700);
  if (unshare(CLONE_NEWNS) != 0) {
    return -1;
  }
  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  mount("none", "root", "tmpfs", 0, NULL);
  return syscall(SYS_pivot_root, "root", "root");
}
GIVES_UP(confines_by_pivot, pivot(), 0)
GIVES_UP(confines_by_namespace, unshare(CLONE_NEWNET), 0)
static long drop_capability(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
  return capset(&header, data);
}
GIVES_UP(confines_by_capabilities, drop_capability(), 0)
GIVES_UP(confines_by_bounding_set, prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0), 0)
GIVES_UP(confines_by_ids_of_thread, syscall(SYS_setgroups, 0L, NULL) + syscall(SYS_setresgid, 65534L, 65534L, 65534L) +
                                        syscall(SYS_setresuid, 65534L, 65534L, 65534L), 0)
/* libc changes the ids of all threads. */
GIVES_UP(confines_by_ids, setgroups(0, NULL) + setgid(65534) + setuid(65534), 1)
GIVES_UP(confines_by_effective_ids, setegid(65534) + seteuid(65534), 1)
GIVES_UP(confines_by_all_ids, setresgid(65534, 65534, 65534) + setresuid(65534, 65534, 65534), 1)

/* The kernel permits only read, write, return from signals, and the end of its only thread. */
static int computes_strictly(void) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  say("strict\n");
  syscall(SYS_exit, 17L);
  return 1;
}

static int computes_strictly_by_system_call(void) {
  syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  say("strict\n");
  syscall(SYS_exit, 18L);
  return 1;
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
/* As Python does at each fork. */
static long threads_in_stat(void) {
  char text[1024];
  FILE *file = fopen("/proc/self/stat", "r");
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  const char *at = strrchr(text, ')');
  for (int i = 0; i < 18; i++) {
    at = strchr(at + 1, ' ');
  }
  return atol(at);
}
static void print_threads(void) {
  char path[64], line[256];
  long threads = 0, id = 0, fields = 0;
  snprintf(path, sizeof path, "/proc/%d/status", getpid());
  FILE *file = fopen(path, "re");
  printf("%d", fcntl(fileno(file), F_GETFD));
  for (; fgets(line, sizeof line, file); fields++) {
    sscanf(line, "Threads: %ld", &threads);
    sscanf(line, "Pid: %ld", &id);
  }
  fclose(file);
  printf(" %ld %ld %d %ld\n", threads_in_stat(), threads, id == getpid(), fields);
}
static void *print_threads_in_thread(void *unused) {
  print_threads();
  return unused;
}
static int counts_its_threads(void) {
  pthread_t thread;
  print_threads();
  nap();
  pthread_create(&thread, NULL, print_threads_in_thread, NULL);
  pthread_join(thread, NULL);
  pid_t child = fork();
  if (child == 0) {
    print_threads();
    exit(0);
  }
  waitpid(child, NULL, 0);
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
  return (int)read(ends[0], &byte, 1); /* 0, unless somebody else has the other end open */
}

/* ---- SIGTRAP and SIGILL, and masks with them */

static int own = SIGTRAP;

#define BIT(signal_number) (1 << ((signal_number)-1))
#define INT3 __asm__ volatile("int3")
#define INT3_OF_TWO_BYTES __asm__ volatile(".byte 0xCD, 3")

/* The address after the trap. */
static void *trap_here(void) {
  void *address;
  __asm__ volatile("lea 1f(%%rip), %0; int3; 1:" : "=r"(address));
  return address;
}
static void *trapped_at;
static bool blocks(int signal_number) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, signal_number) == 1;
}
static void show_trap(const char *where) {
  sigset_t pending;
  sigpending(&pending);
  printf("%s: blocked %d, waits %d, handled %d\n", where, blocks(own), sigismember(&pending, own),
         (int)handled);
  fflush(stdout);
}
static void describe_trap(int signal_number, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  char text[200];
  trapped_at = (void *)c->uc_mcontext.gregs[REG_RIP];
  handled++;
  snprintf(text, sizeof text, "signal %d code %d from %d; then blocked %d %d, now %d %d %d\n", signal_number,
           info->si_code, info->si_code <= 0 ? info->si_pid == getpid() && info->si_uid == getuid() : 0,
           sigismember(&c->uc_sigmask, own), sigismember(&c->uc_sigmask, SIGUSR1), blocks(own),
           blocks(SIGUSR1), blocks(SIGHUP));
  say(text);
}
static void describe_plainly(int signal_number) {
  handled++;
  char text[100];
  snprintf(text, sizeof text, "signal %d; blocked %d %d %d\n", signal_number, blocks(own), blocks(SIGUSR1),
           blocks(SIGHUP));
  say(text);
}
static int handles_traps(void) {
  static const int flags[] = {0, SA_NODEFER, SA_RESTART, SA_ONSTACK};
  for (int i = 0; i < 4; i++) {
    for (int with_info = 0; with_info < 2; with_info++) {
      struct sigaction action = {.sa_flags = flags[i] | (with_info ? SA_SIGINFO : 0)}, seen;
      sigaddset(&action.sa_mask, SIGHUP);
      if (i == 3) {
        sigaddset(&action.sa_mask, SIGTRAP);
      }
      if (with_info) {
        action.sa_sigaction = describe_trap;
      } else {
        action.sa_handler = describe_plainly;
      }
      sigaction(SIGTRAP, &action, NULL);
      sigaction(SIGTRAP, NULL, &seen);
      void *behind = trap_here();
      bool exact = behind == trapped_at;
      INT3_OF_TWO_BYTES;
      raise(SIGTRAP);
      kill(getpid(), SIGTRAP);
      sigqueue(getpid(), SIGTRAP, (union sigval){.sival_int = 5});
      printf("%d %x %d %d %d %d\n", (int)handled, (unsigned)seen.sa_flags, seen.sa_handler == action.sa_handler,
             sigismember(&seen.sa_mask, SIGHUP), sigismember(&seen.sa_mask, SIGTRAP), with_info ? exact : 2);
      show_trap("after");
    }
  }
  return 0;
}
static sig_atomic_t elsewhere;
static void note_thread(int signal_number) {
  (void)signal_number;
  handled++;
  elsewhere += blocks(SIGUSR1); /* as no thread of this program does */
}
static int sends_itself_traps(void) {
  enum { TRAPS = 20000 };
  signal(SIGTRAP, note_thread);
  for (int i = 0; i < TRAPS; i++) {
    kill(getpid(), SIGTRAP);
  }
  printf("most handled %d, in other threads %d\n", handled > TRAPS - 100, (int)elsewhere);
  return 0;
}
static int handles_trap_once(void) {
  sigaction(SIGTRAP, &(struct sigaction){.sa_handler = count_one, .sa_flags = (int)SA_RESETHAND}, NULL);
  INT3;
  struct sigaction seen;
  sigaction(SIGTRAP, NULL, &seen);
  printf("%d handled, then %d %x\n", (int)handled, seen.sa_handler == SIG_DFL, (unsigned)seen.sa_flags);
  fflush(stdout);
  INT3;
  return 1;
}
static void jump_back_from_trap(int signal_number) {
  if (handled < 3) {
    printf("in the handler %d %d\n", signal_number, blocks(SIGTRAP));
  }
  jump_back(signal_number);
}
static int jumps_out_of_traps(void) {
  for (int masked = 0; masked < 2; masked++) {
    struct sigaction action = {.sa_handler = jump_back_from_trap, .sa_flags = SA_NODEFER};
    signal(SIGTRAP, jump_back_from_trap);
    if (!masked) {
      sigaction(SIGTRAP, &action, NULL);
    }
    for (int n = 0; n < 300; n++) {
      if (sigsetjmp(back, masked) == 0) {
        INT3;
      }
    }
    show_trap("after");
  }
  /* Without the mask, the second trap ends the program. */
  if (sigsetjmp(back, 0) == 0) {
    INT3;
  }
  show_trap("after");
  INT3;
  return 1;
}
static void trap_again(int signal_number) {
  (void)signal_number;
  say("once\n");
  INT3;
}
static int traps_in_own_handler(void) {
  signal(SIGTRAP, trap_again);
  INT3;
  return 1;
}
static void trap_deeper(int signal_number) {
  if (++handled < 5) {
    trap_again(signal_number);
  }
}
static int traps_in_own_handler_without_defer(void) {
  sigaction(SIGTRAP, &(struct sigaction){.sa_handler = trap_deeper, .sa_flags = SA_NODEFER}, NULL);
  INT3;
  printf("%d\n", (int)handled);
  return 0;
}
static void raise_again(int signal_number) {
  if (handled++ < 5) {
    raise(signal_number);
    raise(signal_number);
    show_trap("in the handler");
  }
}
static int raises_in_own_handler(void) {
  signal(own, raise_again);
  raise(own);
  show_trap("after");
  return 0;
}
static int ignored_trap_kills(void) {
  signal(SIGTRAP, SIG_IGN);
  raise(SIGTRAP);
  kill(getpid(), SIGTRAP);
  say("ignored\n");
  INT3;
  return 1;
}
static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}
static void unblock_all(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}
static int blocked_trap_kills(void) {
  signal(SIGTRAP, count_one);
  block_all();
  say("blocked\n");
  INT3;
  return 1;
}
static int sent_trap_waits(void) {
  block_all();
  raise(own); /* ends the process by default */
  show_trap("raised");
  signal(own, count_one);
  show_trap("handled");
  unblock_all();
  show_trap("unblocked");
  block_all();
  kill(getpid(), own);
  kill(getpid(), own);
  show_trap("sent twice");
  pid_t child = fork();
  if (child == 0) {
    show_trap("in the child");
    unblock_all();
    show_trap("in the child, unblocked");
    _exit(0);
  }
  wait_for(child);
  unblock_all();
  show_trap("unblocked");
  block_all();
  raise(own);
  signal(own, SIG_DFL);
  say("the end\n");
  unblock_all();
  return 1;
}
static int steps(void) {
  sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = describe_trap, .sa_flags = SA_SIGINFO}, NULL);
  __asm__ volatile(
      "pushfq\n orq $0x100, (%%rsp)\n popfq\n nop\n nop\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n nop"
      :
      :
      : "cc", "memory");
  printf("%d steps\n", (int)handled);
  return 0;
}
static int default_step_kills(void) {
  __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n nop\n nop" : : : "cc", "memory");
  return 1;
}
static void *trap_in_thread(void *unused) {
  show_trap("in the thread");
  unblock_all();
  INT3;
  return unused;
}
static int masks_are_inherited(void) {
  pthread_t thread;
  signal(own, count_one);
  block_all();
  nap();
  pthread_create(&thread, NULL, trap_in_thread, NULL);
  pthread_join(thread, NULL);
  show_trap("in main");
  return 0;
}
static void show_old(const char *what, const sigset_t *old) {
  printf("%s:", what);
  for (int s = 1; s < 32; s++) {
    if (sigismember(old, s) == 1) {
      printf(" %d", s);
    }
  }
  printf("\n");
}
static int shows_masks(void) {
  sigset_t set, old;
  struct sigaction action = {.sa_handler = count_one}, seen;
  sigemptyset(&set);
  sigaddset(&set, own);
  sigaddset(&set, SIGHUP);
  printf("%d\n", sigprocmask(77, &set, &old));
  show_trap("wrong");
  sigprocmask(SIG_BLOCK, &set, &old);
  show_old("block", &old);
  sigdelset(&set, own);
  pthread_sigmask(SIG_SETMASK, &set, &old);
  show_old("set", &old);
  pthread_sigmask(SIG_SETMASK, &old, &set);
  show_old("set", &set);
  set = old;
  sigprocmask(SIG_UNBLOCK, &set, &old);
  show_old("unblock", &old);
  printf("%x\n", (unsigned)sigblock(BIT(own) | BIT(SIGINT)));
  printf("%x\n", (unsigned)sigsetmask(BIT(own)));
  printf("%x\n", (unsigned)sigsetmask(0));
  printf("%d %d %d\n", sighold(own), sighold(SIGUSR1), sighold(99));
  show_trap("hold");
  printf("%d %d %d\n", sigrelse(own), sigrelse(SIGUSR1), sigrelse(99));
  show_trap("release");
  printf("%d\n", sigset(own, count_one) == SIG_DFL);
  printf("%d\n", sigset(own, SIG_HOLD) == count_one);
  raise(own);
  show_trap("hold");
  printf("%d\n", sigset(own, count_one) == SIG_HOLD);
  show_trap("release");
  uint64_t raw = BIT(own) | BIT(SIGINT), raw_old = 0;
  printf("%ld\n", syscall(SYS_rt_sigprocmask, SIG_BLOCK, &raw, &raw_old, 8L));
  printf("%lx\n", (unsigned long)raw_old);
  printf("%ld\n", syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &raw, &raw_old, 8L));
  printf("%lx\n", (unsigned long)raw_old);
  printf("%ld", syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &raw, &raw_old, 7L));
  printf(" %d\n", errno == EINVAL);
  sigfillset(&action.sa_mask);
  for (int s = SIGTERM; s > 0; s--) {
    if (sigaction(s, &action, NULL) == 0 && sigaction(s, NULL, &seen) == 0) {
      printf("%d %d %d\n", s, sigismember(&seen.sa_mask, own), sigismember(&seen.sa_mask, SIGUSR1));
    }
  }
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, &seen);
  printf("%d\n", sigismember(&seen.sa_mask, own));
  sigaction(SIGTERM, NULL, &seen);
  printf("%d\n", sigismember(&seen.sa_mask, own));
  return 0;
}
struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};
static int acts_by_system_call(void) {
  static const int signals[] = {SIGTRAP, SIGUSR2};
  struct sigaction action;
  for (int i = 0; i < 2; i++) {
    struct kernel_action raw, seen;
    sigaction(signals[i], &(struct sigaction){.sa_handler = describe_plainly}, NULL);
    printf("%ld\n", syscall(SYS_rt_sigaction, signals[i], NULL, &raw, 8L));
    raw.mask = BIT(SIGTRAP) | BIT(SIGUSR1);
    printf("%ld\n", syscall(SYS_rt_sigaction, signals[i], &raw, &seen, 8L));
    printf("%d %lx %lx\n", seen.handler == describe_plainly, seen.flags, (unsigned long)seen.mask);
    sigaction(signals[i], NULL, &action);
    printf("%d %d\n", sigismember(&action.sa_mask, SIGTRAP), sigismember(&action.sa_mask, SIGUSR1));
  }
  INT3;
  printf("%ld", syscall(SYS_rt_sigaction, 99, NULL, NULL, 8L));
  printf(" %d\n", errno == EINVAL);
  printf("%ld\n", syscall(SYS_getppid) - getppid());
  return 0;
}
static int waits_for_trap(void) {
  sigset_t set, now;
  int got = 0;
  siginfo_t info;
  struct timespec moment = {0, 1000000};
  sigemptyset(&set);
  sigaddset(&set, own);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(own);
  printf("%d", sigwait(&set, &got));
  printf(" %d\n", got);
  kill(getpid(), own);
  printf("%d", sigwaitinfo(&set, &info));
  printf(" %d %d\n", info.si_code, info.si_pid == getpid());
  printf("%d", sigtimedwait(&set, NULL, &moment));
  printf(" %d\n", errno == EAGAIN);
  signal(own, count_one);
  raise(own);
  sigemptyset(&now);
  printf("%d", sigsuspend(&now));
  printf(" %d\n", errno == EINTR);
  show_trap("sigsuspend");
  raise(own);
  printf("%d", ppoll(NULL, 0, NULL, &now));
  printf(" %d\n", errno == EINTR);
  show_trap("ppoll");
  raise(own);
  printf("%d", pselect(0, NULL, NULL, NULL, NULL, &now));
  printf(" %d\n", errno == EINTR);
  show_trap("pselect");
  raise(own);
  printf("%d\n", ppoll(NULL, 0, &moment, &set));
  show_trap("ppoll, blocked");
  printf("%ld", syscall(SYS_ppoll, NULL, 0L, NULL, &now, 8L));
  printf(" %d\n", errno == EINTR);
  show_trap("raw ppoll");
  raise(own);
  printf("%d", sigpause(own));
  printf(" %d\n", errno == EINTR);
  show_trap("sigpause");
  return 0;
}
static void *wait_to_be_cancelled(void *unused) {
  sigset_t none;
  sigemptyset(&none);
  block_all();
  ppoll(NULL, 0, NULL, &none);
  return unused;
}
static int cancels_a_wait(void) {
  pthread_t thread;
  void *end;
  signal(SIGTRAP, count_one);
  pthread_create(&thread, NULL, wait_to_be_cancelled, NULL);
  nap();
  pthread_cancel(thread);
  pthread_join(thread, &end);
  printf("%d\n", end == PTHREAD_CANCELED);
  return 0;
}
static void on_timer(union sigval value) {
  printf("%d: blocked %d %d\n", value.sival_int, blocks(SIGTRAP), blocks(SIGHUP));
  fflush(stdout);
  handled++;
}
static int notifies(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
  struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
  for (int i = 1; i <= 3; i++) {
    timer_t timer;
    event.sigev_value.sival_int = i;
    printf("%d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
    fflush(stdout);
    timer_settime(timer, 0, &soon, NULL);
    while (handled != i) {
      nap();
    }
    timer_delete(timer);
  }
  printf("%d\n", timer_create(99, &event, NULL));
  return 0;
}
static int forks_and_traps(void) {
  pid_t child = fork();
  if (child == 0) {
    INT3;
  }
  wait_for(child);
  signal(SIGTRAP, count_one);
  child = fork();
  if (child == 0) {
    INT3;
    show_trap("in the child");
    signal(SIGTRAP, SIG_DFL);
    INT3;
  }
  wait_for(child);
  child = vfork();
  if (child == 0) {
    signal(SIGTRAP, SIG_DFL);
    _exit(3);
  }
  wait_for(child);
  INT3;
  show_trap("in the parent");
  return 0;
}
static int vforks_by_system_call(void) {
  long child = syscall(SYS_vfork);
  if (child == 0) {
    _exit(8);
  }
  return wait_for((pid_t)child);
}
static ucontext_t first, second;
static char second_stack[65536];
static void on_second_stack(void) {
  show_trap("in the second");
  swapcontext(&second, &first);
  show_trap("in the second again");
}
static int switches_contexts(void) {
  getcontext(&second);
  second.uc_stack = (stack_t){.ss_sp = second_stack, .ss_size = sizeof second_stack};
  second.uc_link = &first;
  makecontext(&second, on_second_stack, 0);
  swapcontext(&first, &second);
  show_trap("in the first");
  swapcontext(&first, &second);
  show_trap("in the first again");
  return 0;
}

/* ---- the same with SIGILL, which leaves a thread at the instruction */

#define UNDEFINED __asm__ volatile("ud2")
enum { UNDEFINED_BYTES = 2 };
static void step_over(int signal_number, siginfo_t *info, void *context) {
  describe_trap(signal_number, info, context);
  ucontext_t *c = context;
  if (info->si_code > 0) {
    trapped_at = info->si_addr;
    c->uc_mcontext.gregs[REG_RIP] += UNDEFINED_BYTES;
  }
}
/* The address of the instruction. */
static void *undefined_here(void) {
  void *address;
  __asm__ volatile("lea 1f(%%rip), %0; 1: ud2" : "=r"(address));
  return address;
}
static int handles_undefined(void) {
  static const int flags[] = {0, SA_NODEFER, SA_RESTART, SA_ONSTACK};
  own = SIGILL;
  for (int i = 0; i < 4; i++) {
    struct sigaction action = {.sa_sigaction = step_over, .sa_flags = flags[i] | SA_SIGINFO}, seen;
    sigaddset(&action.sa_mask, SIGHUP);
    if (i == 3) {
      sigaddset(&action.sa_mask, SIGILL);
      sigaddset(&action.sa_mask, SIGTRAP);
    }
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGILL, NULL, &seen);
    bool exact = undefined_here() == trapped_at;
    raise(SIGILL);
    kill(getpid(), SIGILL);
    sigqueue(getpid(), SIGILL, (union sigval){.sival_int = 5});
    printf("%d %x %d %d %d %d %d\n", (int)handled, (unsigned)seen.sa_flags, seen.sa_sigaction == step_over,
           sigismember(&seen.sa_mask, SIGHUP), sigismember(&seen.sa_mask, SIGILL),
           sigismember(&seen.sa_mask, SIGTRAP), exact);
    show_trap("after");
  }
  return 0;
}
static int undefined_kills(void) {
  UNDEFINED;
  return 1;
}
/* The same bytes as over instruction heads, but not the agent's. */
static int undefined_bytes_kill(void) {
  pid_t child = fork();
  if (child == 0) {
    __asm__ volatile(".byte 0x60; nop; nop; nop; nop");
  }
  wait_for(child);
  __asm__ volatile(".byte 0x61; nop; nop; nop; nop");
  return 1;
}
static int ignored_undefined_kills(void) {
  signal(SIGILL, SIG_IGN);
  raise(SIGILL);
  kill(getpid(), SIGILL);
  say("ignored\n");
  UNDEFINED;
  return 1;
}
static int blocked_undefined_kills(void) {
  sigaction(SIGILL, &(struct sigaction){.sa_sigaction = step_over, .sa_flags = SA_SIGINFO}, NULL);
  block_all();
  say("blocked\n");
  UNDEFINED;
  return 1;
}
static void raise_undefined(int signal_number) {
  (void)signal_number;
  say("once\n");
  UNDEFINED;
}
static int undefined_in_own_handler_kills(void) {
  signal(SIGILL, raise_undefined);
  UNDEFINED;
  return 1;
}
static int undefined_is_handled_once(void) {
  sigaction(SIGILL, &(struct sigaction){.sa_sigaction = step_over, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND}, NULL);
  UNDEFINED;
  struct sigaction seen;
  sigaction(SIGILL, NULL, &seen);
  printf("%d handled, then %d\n", (int)handled, seen.sa_handler == SIG_DFL);
  fflush(stdout);
  UNDEFINED;
  return 1;
}
static int jumps_out_of_undefined(void) {
  own = SIGILL;
  for (int masked = 0; masked < 2; masked++) {
    struct sigaction action = {.sa_handler = jump_back, .sa_flags = masked ? 0 : SA_NODEFER};
    sigaction(SIGILL, &action, NULL);
    for (int n = 0; n < 300; n++) {
      if (sigsetjmp(back, masked) == 0) {
        UNDEFINED;
      }
    }
    show_trap("after");
  }
  /* Without the mask, the second trap ends the program. */
  if (sigsetjmp(back, 0) == 0) {
    UNDEFINED;
  }
  show_trap("after");
  UNDEFINED;
  return 1;
}
static void trap_and_step_over(int signal_number, siginfo_t *info, void *context) {
  INT3;
  show_trap("in the handler");
  step_over(signal_number, info, context);
}
/* Each of the two signals blocks only itself. */
static int traps_in_handler_of_undefined(void) {
  signal(SIGTRAP, count_one);
  sigaction(SIGILL, &(struct sigaction){.sa_sigaction = trap_and_step_over, .sa_flags = SA_SIGINFO}, NULL);
  UNDEFINED;
  show_trap("after");
  return 0;
}
static int forks_with_undefined(void) {
  sigaction(SIGILL, &(struct sigaction){.sa_sigaction = step_over, .sa_flags = SA_SIGINFO}, NULL);
  pid_t child = fork();
  if (child == 0) {
    UNDEFINED;
    signal(SIGILL, SIG_DFL);
    UNDEFINED;
  }
  wait_for(child);
  child = vfork();
  if (child == 0) {
    signal(SIGILL, SIG_DFL);
    _exit(3);
  }
  wait_for(child);
  UNDEFINED;
  printf("%d\n", (int)handled);
  return 0;
}
static int with_undefined(int (*program)(void)) {
  own = SIGILL;
  return program();
}
static int sent_undefined_waits(void) { return with_undefined(sent_trap_waits); }
static int shows_masks_of_undefined(void) { return with_undefined(shows_masks); }
static int waits_for_undefined(void) { return with_undefined(waits_for_trap); }
static int raises_undefined_in_own_handler(void) { return with_undefined(raises_in_own_handler); }

/* ---- changes to things that the agent may have read before */

static void show_limit(int resource) {
  struct rlimit a = {1, 1}, b = {2, 2};
  int error = getrlimit(resource, &a) + prlimit(0, resource, NULL, &b);
  printf("limit %ld %ld %ld %ld %d\n", (long)a.rlim_cur, (long)a.rlim_max, (long)b.rlim_cur, (long)b.rlim_max, error);
}
static void *end_at_once(void *value) { return value; }
static int works_within_a_limit(int resource, struct rlimit limit) {
  pthread_t thread;
  show_limit(resource);
  printf("set %d\n", setrlimit(resource, &limit));
  show_limit(resource);
  void *large = malloc(32 << 20), *small = malloc(1 << 20);
  int error = pthread_create(&thread, NULL, end_at_once, NULL);
  if (error == 0) {
    pthread_join(thread, NULL);
  }
  printf("%d %d %d\n", large != NULL, small != NULL, error);
  void *too_large = malloc(20ul << 30);
  printf("%d\n", too_large != NULL);
  struct rlimit lower = {limit.rlim_cur / 2, limit.rlim_max};
  printf("lower %d %d\n", prlimit(0, resource, &lower, &limit), limit.rlim_cur == 2 * lower.rlim_cur);
  show_limit(resource);
  nap();
  return 7;
}
static int limits_its_address_space(void) { return works_within_a_limit(RLIMIT_AS, (struct rlimit){1 << 30, 1 << 30}); }
static int limits_its_data(void) { return works_within_a_limit(RLIMIT_DATA, (struct rlimit){128 << 20, RLIM_INFINITY}); }

enum { REPLACED_BYTES = 4096 };
#define REPLACED __attribute__((section("replaced"), noipa, aligned(REPLACED_BYTES)))
#define REPLACING __attribute__((noinline, no_instrument_function))
REPLACED static int add_three(int value) { return value + 3; }
static int sum_of_calls(void) {
  int sum = 0;
  for (int i = 0; i < 1000; i++) {
    sum += add_three(i);
  }
  return sum;
}
static void *const replaced_page = (void *)add_three;

/* Like programs that want huge pages for their text. Nothing in the page is called meanwhile. */
REPLACING static int map_over_text(void) {
  static volatile char copy[REPLACED_BYTES];
  volatile char *page = replaced_page;
  for (int i = 0; i < REPLACED_BYTES; i++) {
    copy[i] = page[i];
  }
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(replaced_page, REPLACED_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) != replaced_page) {
    return 1;
  }
  for (int i = 0; i < REPLACED_BYTES; i++) {
    page[i] = copy[i];
  }
  return mprotect(replaced_page, REPLACED_BYTES, PROT_READ | PROT_EXEC);
}
static int replaces_its_text(void) {
  printf("%d\n", sum_of_calls());
  for (int i = 0; i < 20; i++) {
    int error = map_over_text();
    printf("%d %d\n", error, sum_of_calls());
    usleep(20000);
  }
  return 8;
}
/* mov $7, %eax; ret, and back. */
REPLACING static int write_to_text(const char *bytes, char *former, int count) {
  volatile char *page = replaced_page;
  if (mprotect(replaced_page, REPLACED_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return 1;
  }
  for (int i = 0; i < count; i++) {
    if (former) {
      former[i] = page[i];
    }
    page[i] = bytes[i];
  }
  return mprotect(replaced_page, REPLACED_BYTES, PROT_READ | PROT_EXEC);
}
static int writes_to_its_text(void) {
  enum { COUNT = 6 };
  char former[COUNT];
  for (int i = 0; i < 20; i++) {
    int error = write_to_text("\xb8\x07\0\0\0\xc3", former, COUNT);
    printf("%d %d ", error, sum_of_calls());
    usleep(10000);
    error = write_to_text(former, NULL, COUNT);
    printf("%d %d\n", error, sum_of_calls());
    usleep(10000);
  }
  return 9;
}
static int seals_its_text(void) {
  enum { MSEAL = 462 };
  bool sealed = syscall(MSEAL, replaced_page, (size_t)REPLACED_BYTES, 0ul) == 0;
  nap();
  printf("%d %d\n", sealed, sum_of_calls());
  return 10;
}
static int removes_its_directory(void) {
  char name[] = "/tmp/mdl-app.XXXXXX", found[PATH_MAX];
  if (!mkdtemp(name) || chdir(name) != 0 || rmdir(name) != 0) {
    return 98;
  }
  nap();
  char *directory = getcwd(found, sizeof found);
  printf("%d %d\n", directory != NULL, sum_of_calls());
  return 11;
}
static int takes_all_descriptors(void) {
  int null = open("/dev/null", O_RDWR);
  for (int i = 3; i < 900; i++) {
    dup2(null, i);
  }
  nap();
  printf("%d %d\n", open("/dev/null", O_RDONLY), sum_of_calls());
  return 12;
}
static int hides_from_others(void) {
  int status = 0;
  printf("%d\n", prctl(PR_SET_DUMPABLE, 0));
  nap();
  pid_t child = fork();
  if (child == 0) {
    _exit(sum_of_calls() & 0x7F);
  }
  waitpid(child, &status, 0);
  printf("%d %d\n", prctl(PR_GET_DUMPABLE), WEXITSTATUS(status));
  return 13;
}

static const struct {
  const char *name;
  int (*run)(void);
} programs[] = {
#define PROGRAM(function) {#function, function}
    PROGRAM(returns), PROGRAM(exits), PROGRAM(ends_at_once), PROGRAM(ends_quickly), PROGRAM(aborts),
    PROGRAM(runs_handlers), PROGRAM(exits_in_thread), PROGRAM(main_leaves), PROGRAM(main_leaves_workers),
    PROGRAM(main_ends_by_instruction), PROGRAM(main_ends_before_worker_by_instruction),
    PROGRAM(main_leaves_c11_worker), PROGRAM(main_leaves_worker_with_destructor),
    PROGRAM(main_returns_while_workers_run), PROGRAM(executes), PROGRAM(executes_in_thread), PROGRAM(is_killed),
    PROGRAM(segv), PROGRAM(bus), PROGRAM(fpe), PROGRAM(ill), PROGRAM(trap), PROGRAM(segv_in_thread), PROGRAM(overflows), PROGRAM(sent_segv),
    PROGRAM(sent_term), PROGRAM(sent_usr2), PROGRAM(sent_quit), PROGRAM(sent_hup), PROGRAM(sent_trap),
    PROGRAM(breaks_pipe), PROGRAM(exceeds_file_size), PROGRAM(handles_faults),
    PROGRAM(handles_faults_by_signal), PROGRAM(handles_faults_later), PROGRAM(describes_fault), PROGRAM(handles_overflow_on_other_stack),
    PROGRAM(handles_once), PROGRAM(ignores), PROGRAM(ignored_fault_kills), PROGRAM(blocked_fault_kills),
    PROGRAM(queries), PROGRAM(changes_handlers_often), PROGRAM(waits_for_signal), PROGRAM(handles_many_signals), PROGRAM(forks_and_exits),
    PROGRAM(forks_and_faults), PROGRAM(forks_and_handles), PROGRAM(forks_and_works), PROGRAM(forks_often),
    PROGRAM(daemon_like), PROGRAM(child_outlives_parent), PROGRAM(vforks_and_executes),
    PROGRAM(vfork_child_keeps_its_signals), PROGRAM(spawns), PROGRAM(spawns_with_attributes),
    PROGRAM(shows_inherited_signals), PROGRAM(calls_system), PROGRAM(shows_state),
    PROGRAM(counts_its_threads), PROGRAM(closes_all), PROGRAM(closes_standard), PROGRAM(pipe_ends_when_closed), PROGRAM(dlopens_by_runpath),
    PROGRAM(sets_user), PROGRAM(drops_privileges), PROGRAM(drops_capability),
    PROGRAM(changes_user_by_system_call), PROGRAM(changes_root), PROGRAM(enters_user_namespace),
    PROGRAM(enters_user_namespace_by_system_call), PROGRAM(joins_namespace), PROGRAM(filters_own_system_calls),
    PROGRAM(filters_system_calls_of_all_threads), PROGRAM(thread_filters_own_system_calls),
    PROGRAM(forked_child_filters_system_calls), PROGRAM(confines_by_filter), PROGRAM(confines_by_filter_by_system_call),
    PROGRAM(confines_by_privileged_filter), PROGRAM(confines_by_no_new_privileges), PROGRAM(confines_by_landlock),
    PROGRAM(confines_by_root), PROGRAM(confines_by_root_by_system_call), PROGRAM(confines_by_pivot),
    PROGRAM(confines_by_namespace), PROGRAM(confines_by_capabilities), PROGRAM(confines_by_bounding_set),
    PROGRAM(confines_by_ids_of_thread), PROGRAM(confines_by_ids), PROGRAM(confines_by_effective_ids),
    PROGRAM(confines_by_all_ids), PROGRAM(computes_strictly),
    PROGRAM(computes_strictly_by_system_call), PROGRAM(handles_traps), PROGRAM(sends_itself_traps),
    PROGRAM(handles_trap_once), PROGRAM(jumps_out_of_traps),
    PROGRAM(traps_in_own_handler), PROGRAM(traps_in_own_handler_without_defer), PROGRAM(raises_in_own_handler),
    PROGRAM(ignored_trap_kills), PROGRAM(blocked_trap_kills), PROGRAM(sent_trap_waits), PROGRAM(steps),
    PROGRAM(default_step_kills), PROGRAM(masks_are_inherited), PROGRAM(shows_masks), PROGRAM(acts_by_system_call),
    PROGRAM(waits_for_trap), PROGRAM(cancels_a_wait), PROGRAM(notifies), PROGRAM(forks_and_traps),
    PROGRAM(vforks_by_system_call), PROGRAM(switches_contexts),
    PROGRAM(handles_undefined), PROGRAM(undefined_kills), PROGRAM(undefined_bytes_kill),
    PROGRAM(ignored_undefined_kills), PROGRAM(blocked_undefined_kills), PROGRAM(undefined_in_own_handler_kills),
    PROGRAM(undefined_is_handled_once), PROGRAM(jumps_out_of_undefined), PROGRAM(traps_in_handler_of_undefined),
    PROGRAM(forks_with_undefined), PROGRAM(sent_undefined_waits), PROGRAM(shows_masks_of_undefined),
    PROGRAM(waits_for_undefined), PROGRAM(raises_undefined_in_own_handler),
    PROGRAM(limits_its_address_space), PROGRAM(limits_its_data), PROGRAM(replaces_its_text), PROGRAM(writes_to_its_text),
    PROGRAM(seals_its_text), PROGRAM(removes_its_directory), PROGRAM(takes_all_descriptors), PROGRAM(hides_from_others),
};

/* ---- preparations, which put the agent into some state while a program runs */

#define PROBED __attribute__((noinline, noclone))
#define BUSY(n) \
  PROBED static void busy_##n(void) { __asm__ volatile(""); }
BUSY(1) BUSY(2) BUSY(3) BUSY(4) BUSY(5) BUSY(6) BUSY(7) BUSY(8)

enum { TOGGLES_MIN = 20 };

/* A counter of the agent: a word of its session, if there is one. */
static long toggles(const char *session, long offset) {
  int64_t count = TOGGLES_MIN + 1;
  int fd = open(session, O_RDONLY);
  if (fd >= 0 && (pread(fd, &count, sizeof count, offset) != sizeof count || close(fd))) {
    abort();
  }
  return count;
}

/* From now on, functions are called often enough to be switched on and off. */
static void be_busy(const char *session, long offset) {
  do {
    for (int i = 0; i < 1000000; i++) {
      busy_1(), busy_2(), busy_3(), busy_4(), busy_5(), busy_6(), busy_7(), busy_8();
    }
  } while (toggles(session, offset) <= TOGGLES_MIN);
}
/* With this process's id, and without the agent. */
static void run_on_us(char *path) {
  char number[16];
  char *const command[] = {path, number, "1", NULL}, *const nothing[] = {NULL};
  pid_t child;
  snprintf(number, sizeof number, "%d", getpid());
  if (posix_spawn(&child, path, NULL, NULL, command, nothing) == 0) {
    waitpid(child, NULL, 0);
  }
}
/* PREPARATION is `busy SESSION OFFSET`, the path of a program to run, or a delay in microseconds. */
static void prepare(char **arguments) {
  char *preparation = arguments[0];
  if (strcmp(preparation, "busy") == 0) {
    be_busy(arguments[1], atol(arguments[2]));
  } else if (strchr(preparation, '/')) {
    run_on_us(preparation);
  } else {
    usleep((useconds_t)atol(preparation));
  }
}

/* app: lists the programs. app PROGRAM [PREPARATION]: runs one. */
int main(int argc, char **argv) {
  if (argc > 2) {
    prepare(argv + 2);
  }
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    if (argc < 2) {
      puts(programs[i].name);
    } else if (strcmp(argv[1], programs[i].name) == 0) {
      return programs[i].run();
    }
  }
  return argc < 2 ? 0 : 99;
}

/* The injector of `mdl attach`, with programs that notice what it must not do. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

enum { TRAPS = 1 << (SIGTRAP - 1) | 1 << (SIGILL - 1) };
enum { CYCLES = 20, LAST_STEP = 7, INTERRUPTED = 3, DAMAGED = 4, BLOCKING = 4 };

static _Atomic uint64_t *laps; /* of the target, shared with the test */

/* ---- targets */

static pid_t start(void (*target)(void)) {
  laps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(laps != MAP_FAILED);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    target();
    _exit(0);
  }
  while (atomic_load(laps) == 0) {
    sched_yield();
  }
  return child;
}

static void await_laps(pid_t target, uint64_t more) {
  uint64_t end = atomic_load(laps) + more;
  while (atomic_load(laps) < end) {
    int status;
    CHECK_EQUAL(waitpid(target, &status, WNOHANG), 0);
    usleep(1000);
  }
}

static void check_lives(pid_t target) {
  int status;
  CHECK_EQUAL(waitpid(target, &status, WNOHANG), 0);
}

static void end(pid_t target) {
  check_lives(target);
  kill(target, SIGKILL);
  waitpid(target, NULL, 0);
}

static void epoll_for(int milliseconds) {
  int file = epoll_create1(0);
  struct epoll_event event;
  for (;;) {
    atomic_fetch_add(laps, 1);
    if (epoll_wait(file, &event, 1, milliseconds) < 0) {
      _exit(INTERRUPTED);
    }
  }
}

static void epoll_without_end(void) { epoll_for(-1); }

static void epoll_a_millisecond(void) { epoll_for(1); }

/* Other signals are unblocked during the call than outside. */
static void ppoll_with_a_mask(void) {
  sigset_t all, none, now;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (;;) {
    atomic_fetch_add(laps, 1);
    if (ppoll(NULL, 0, &(struct timespec){.tv_nsec = 2000000}, &none) < 0) {
      _exit(INTERRUPTED);
    }
    sigprocmask(SIG_SETMASK, NULL, &now);
    if (!sigismember(&now, SIGUSR1)) {
      _exit(DAMAGED);
    }
  }
}

static void sigtimedwait_a_millisecond(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (;;) {
    atomic_fetch_add(laps, 1);
    if (sigtimedwait(&set, NULL, &(struct timespec){.tv_nsec = 1000000}) < 0 && errno != EAGAIN) {
      _exit(INTERRUPTED);
    }
  }
}

static void sleep_a_millisecond(void) {
  for (;;) {
    atomic_fetch_add(laps, 1);
    if (nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL) < 0) {
      _exit(INTERRUPTED);
    }
  }
}

static void sleep_for_ever(void) {
  atomic_fetch_add(laps, 1);
  nanosleep(&(struct timespec){.tv_sec = 1000}, NULL);
  _exit(INTERRUPTED);
}

static void read_a_pipe(void) {
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  atomic_fetch_add(laps, 1);
  if (read(ends[0], &byte, 1) < 0) {
    _exit(INTERRUPTED);
  }
}

/* Never sleeps; has values in registers of all kinds. */
static void compute(void) {
  for (;;) {
    double sum = 0;
    uint64_t number = 1;
    for (int i = 1; i <= 100000; i++) {
      sum += 0.5;
      number = number * 6364136223846793005u + 1442695040888963407u;
      __asm__ volatile("" : "+x"(sum), "+r"(number));
    }
    static uint64_t expected;
    expected = expected ? expected : number;
    if (sum != 50000.0 || number != expected) {
      _exit(DAMAGED);
    }
    atomic_fetch_add(laps, 1);
  }
}

static void allocate(void) {
  for (;;) {
    void *volatile blocks[32];
    for (int i = 0; i < 32; i++) {
      blocks[i] = malloc(64u << (i % 8));
    }
    for (int i = 0; i < 32; i++) {
      free(blocks[i]);
    }
    atomic_fetch_add(laps, 1);
  }
}

static void *await_for_ever(void *unused) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  for (;;) {
    pthread_cond_wait(&condition, &mutex);
  }
  return unused;
}

static void have_a_hundred_threads(void) {
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, await_for_ever, NULL), 0);
  }
  epoll_a_millisecond();
}

static void block_all_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (int i = 0; i < BLOCKING - 1; i++) {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, await_for_ever, NULL), 0);
  }
  epoll_a_millisecond();
}

static void wait_in_handler(int signal) {
  int ends[2];
  char byte;
  (void)signal;
  CHECK(pipe(ends) == 0);
  atomic_fetch_add(laps, 1);
  CHECK(read(ends[0], &byte, 1) == 0);
}

static void handle_a_signal(void) {
  signal(SIGUSR1, wait_in_handler);
  raise(SIGUSR1);
}

/* ---- the injector */

/* Exit status, or minus the signal that ended it. */
static int inject_function(const char *injector, pid_t target, const char *function, const char *argument) {
  int input[2];
  char pid[16];
  snprintf(pid, sizeof pid, "%d", target);
  CHECK(pipe(input) == 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(input[0], 0);
    dup2(open("/dev/null", O_WRONLY), 1);
    close(input[0]);
    close(input[1]);
    execl(injector, injector, pid, BROUGHT, function, "adopt", NULL);
    _exit(127);
  }
  close(input[0]);
  CHECK(write(input[1], argument, strlen(argument)) == (ssize_t)strlen(argument));
  close(input[1]);
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int inject_with(const char *injector, pid_t target, const char *argument) {
  return inject_function(injector, target, "brought", argument);
}

static int inject(pid_t target) { return inject_with(INJECTOR, target, "0"); }

static void need_ptrace(void) {
  pid_t target = start(read_a_pipe);
  if (ptrace(PTRACE_SEIZE, target, NULL, NULL) != 0) {
    skip("ptrace is not permitted");
  }
  end(target);
}

/* ---- tests */

static void shouldCallAFunctionOfTheLibrary(void) {
  need_ptrace();
  pid_t target = start(epoll_without_end);
  CHECK_EQUAL(inject_with(INJECTOR, target, "0"), 0);
  CHECK_EQUAL(inject_with(INJECTOR, target, "5"), 1);
  end(target);
}

static void check_uninterrupted(void (*run)(void)) {
  pid_t target = start(run);
  for (int i = 0; i < CYCLES; i++) {
    CHECK_EQUAL(inject(target), 0);
    check_lives(target);
  }
  end(target);
}

static void shouldInterruptNoSystemCall(void) {
  need_ptrace();
  check_uninterrupted(epoll_without_end);
  check_uninterrupted(epoll_a_millisecond);
  check_uninterrupted(ppoll_with_a_mask);
  check_uninterrupted(sigtimedwait_a_millisecond);
  check_uninterrupted(sleep_a_millisecond);
  check_uninterrupted(read_a_pipe);
}

/* The kernel restarts its call by restart_syscall. */
static void shouldBorrowAThreadThatWasStoppedBefore(void) {
  need_ptrace();
  pid_t target = start(sleep_for_ever);
  usleep(10000);
  kill(target, SIGSTOP);
  int status;
  CHECK_EQUAL(waitpid(target, &status, WUNTRACED), target);
  kill(target, SIGCONT);
  CHECK_EQUAL(inject(target), 0);
  CHECK_EQUAL(inject(target), 0);
  end(target);
}

static void shouldRestoreTheRegistersOfARunningThread(void) {
  need_ptrace();
  pid_t target = start(compute);
  for (int i = 0; i < CYCLES; i++) {
    CHECK_EQUAL(inject(target), 0);
    await_laps(target, 2);
  }
  end(target);
}

/* It may find no safe point, and then reports that. The target keeps allocating. */
static void shouldNotHangAProgramThatAllocates(void) {
  need_ptrace();
  pid_t target = start(allocate);
  for (int i = 0; i < CYCLES; i++) {
    int status = inject(target);
    CHECK(status == 0 || status == 2);
    await_laps(target, 100);
  }
  end(target);
}

static void shouldFindASafeThreadAmongMany(void) {
  need_ptrace();
  pid_t target = start(have_a_hundred_threads);
  for (int i = 0; i < CYCLES; i++) {
    CHECK_EQUAL(inject(target), 0);
    await_laps(target, 2);
  }
  end(target);
}

static void shouldNotBorrowAThreadInASignalHandler(void) {
  need_ptrace();
  pid_t target = start(handle_a_signal);
  CHECK_EQUAL(inject(target), 2);
  end(target);
}

/* Masks of the threads, a line each. */
static void read_masks(pid_t target, char *masks, size_t capacity) {
  char command[128];
  snprintf(command, sizeof command, "grep -h SigBlk /proc/%d/task/*/status", target);
  FILE *lines = popen(command, "r");
  CHECK(lines != NULL);
  masks[fread(masks, 1, capacity - 1, lines)] = 0;
  pclose(lines);
}

static void shouldUnblockTheSignalsOfTrapsAndNoOther(void) {
  need_ptrace();
  char masks[1024], line[64], expected[1024] = "";
  pid_t target = start(block_all_signals);
  read_masks(target, masks, sizeof masks);
  uint64_t mask = strtoull(strchr(masks, '\t'), NULL, 16);
  snprintf(line, sizeof line, "SigBlk:\t%016llx\n", (unsigned long long)(mask & ~(uint64_t)TRAPS));
  for (int i = 0; i < BLOCKING; i++) {
    strcat(expected, line);
  }
  CHECK_EQUAL(inject(target), 0);
  read_masks(target, masks, sizeof masks);
  CHECK(strcmp(masks, expected) == 0);
  await_laps(target, 2);
  CHECK_EQUAL(inject_function(INJECTOR, target, "check_adopted", "4"), 0);
  end(target);
}

static void shouldLeaveTheTargetAsItWasWhereverItDies(void) {
  need_ptrace();
  void (*const targets[])(void) = {epoll_a_millisecond, compute, read_a_pipe, have_a_hundred_threads, block_all_signals};
  for (int first = 0; first < 3; first++) {
    for (int step = 1; step <= LAST_STEP; step++) {
      for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        /* Before the call is rewound, EINTR is what any stop leaves, so only calls that libc or the kernel
         * restarts are tested. */
        if (targets[i] == epoll_a_millisecond && (step == 2 || step == 3)) {
          continue;
        }
        bool adopts = targets[i] == block_all_signals;
        if (adopts != (first == 2) || (adopts && step == 3)) {
          continue;
        }
        char where[8];
        pid_t target = start(targets[i]);
        snprintf(where, sizeof where, "%d", first * 10 + step);
        setenv("MDL_INJECT_DIES", where, 1);
        int status = inject_with(STEPS, target, "0");
        unsetenv("MDL_INJECT_DIES");
        /* A step that rewinds is reached only if a call has failed. */
        CHECK(status == -SIGKILL || (step == 3 && status == 0));
        if (targets[i] != read_a_pipe) {
          await_laps(target, 3);
        }
        CHECK_EQUAL(inject(target), 0);
        end(target);
      }
    }
  }
}

/* ---- seccomp */

/* Of all threads, or of one more. */
static void filter(int number, uint32_t result) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1), BPF_STMT(BPF_RET | BPF_K, result),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(DAMAGED);
  }
}

static void deny_perf_events(void) {
  filter(SYS_perf_event_open, SECCOMP_RET_ERRNO | EACCES);
  epoll_without_end();
}

static void die_of_mmap(void) {
  filter(SYS_mmap, SECCOMP_RET_KILL_PROCESS);
  epoll_without_end();
}

static void *die_of_membarrier(void *unused) {
  filter(SYS_membarrier, SECCOMP_RET_TRAP);
  epoll_without_end();
  return unused;
}

static void have_a_thread_that_dies_of_membarrier(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, die_of_membarrier, NULL);
  while (atomic_load(laps) == 0) {
    usleep(1000);
  }
  sleep_for_ever();
}

/* The kernel continues a sleep by restart_syscall. */
static void die_of_a_restarted_sleep(void) {
  filter(SYS_restart_syscall, SECCOMP_RET_KILL_PROCESS);
  for (;;) {
    atomic_fetch_add(laps, 1);
    if (nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL) < 0) {
      _exit(INTERRUPTED);
    }
  }
}

static void need_root(void) {
  need_ptrace();
  if (geteuid() != 0) {
    skip("filters of other processes may be read by root only");
  }
}

static void shouldComeIntoAProcessWhoseFilterOnlyDenies(void) {
  need_root();
  pid_t target = start(deny_perf_events);
  for (int i = 0; i < CYCLES; i++) {
    CHECK_EQUAL(inject(target), 0);
  }
  end(target);
}

static void shouldLeaveAProcessAloneThatItsFilterWouldEnd(void) {
  static void (*const targets[])(void) = {die_of_mmap, have_a_thread_that_dies_of_membarrier,
                                            die_of_a_restarted_sleep};
  need_root();
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    pid_t target = start(targets[i]);
    for (int n = 0; n < CYCLES; n++) {
      CHECK_EQUAL(inject(target), 2);
    }
    usleep(30000); /* a thread that was stopped goes on */
    end(target);
  }
}

/* ---- broken twins */

static void shouldEndAProcessWithoutTheCheckOfFilters(void) {
  need_root();
  setenv("MDL_INJECT_TWIN", "no-filter-check", 1);
  pid_t target = start(die_of_mmap);
  inject_with(STEPS, target, "0");
  int status;
  CHECK_EQUAL(waitpid(target, &status, 0), target);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void shouldFailProgramsWithoutRewinding(void) {
  need_ptrace();
  setenv("MDL_INJECT_TWIN", "no-rewind", 1);
  pid_t target = start(epoll_without_end);
  inject_with(STEPS, target, "0");
  int status;
  CHECK_EQUAL(waitpid(target, &status, 0), target);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == INTERRUPTED);
}

static void shouldBorrowAThreadInAHandlerWithoutTheCheck(void) {
  need_ptrace();
  setenv("MDL_INJECT_TWIN", "no-handler-check", 1);
  pid_t target = start(handle_a_signal);
  CHECK_EQUAL(inject_with(STEPS, target, "0"), 0);
  end(target);
}

TESTS({"shouldCallAFunctionOfTheLibrary", shouldCallAFunctionOfTheLibrary},
      {"shouldInterruptNoSystemCall", shouldInterruptNoSystemCall},
      {"shouldBorrowAThreadThatWasStoppedBefore", shouldBorrowAThreadThatWasStoppedBefore},
      {"shouldRestoreTheRegistersOfARunningThread", shouldRestoreTheRegistersOfARunningThread},
      {"shouldNotHangAProgramThatAllocates", shouldNotHangAProgramThatAllocates},
      {"shouldFindASafeThreadAmongMany", shouldFindASafeThreadAmongMany},
      {"shouldNotBorrowAThreadInASignalHandler", shouldNotBorrowAThreadInASignalHandler},
      {"shouldUnblockTheSignalsOfTrapsAndNoOther", shouldUnblockTheSignalsOfTrapsAndNoOther},
      {"shouldLeaveTheTargetAsItWasWhereverItDies", shouldLeaveTheTargetAsItWasWhereverItDies},
      {"shouldComeIntoAProcessWhoseFilterOnlyDenies", shouldComeIntoAProcessWhoseFilterOnlyDenies},
      {"shouldLeaveAProcessAloneThatItsFilterWouldEnd", shouldLeaveAProcessAloneThatItsFilterWouldEnd},
      {"shouldEndAProcessWithoutTheCheckOfFilters", shouldEndAProcessWithoutTheCheckOfFilters},
      {"shouldFailProgramsWithoutRewinding", shouldFailProgramsWithoutRewinding},
      {"shouldBorrowAThreadInAHandlerWithoutTheCheck", shouldBorrowAThreadInAHandlerWithoutTheCheck})

#include "code/code.h"
#include "code/file_text.h"
#include "code/own_text.h"
#include "os/attributes.h"
#include "os/sys.h"
#include "record/frames.h"
#include "record/mode.h"
#include "record/lease.h"
#include "session/memory.h"
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { STALL_MILLIS = 10, JOIN_SECONDS = 300, PROCESSORS_MAX = 64 };

static const uint64_t NANOS_PER_MILLI = 1000000u;
static const long SIGNAL_PERIOD_NANOS = 100000;

/* How long a thread was kept from running, as it knows it. */
struct watch {
  int schedstat;    /* of the thread */
  uint64_t last;    /* tsc: of the last execution */
  uint64_t sampled; /* tsc: when the rest was read */
  uint64_t waited;  /* nanoseconds that the thread has waited for a processor */
  uint64_t late[PROCESSORS_MAX];
};

/* By processor: nanoseconds by which its witness was late. In the session, because forked children read it. */
static uint64_t *late;

static THREAD_LOCAL struct mdl_torture_executor *self;

static uint64_t execute(const struct mdl_torture_site *site) {
  return ((uint64_t(*)(void))site->function)();
}

/* The value's index among those that the site may return. */
static int place_of(const struct mdl_torture_site *site, uint64_t value) {
  for (int i = 0; i < MDL_TORTURE_VALUES; i++) {
    if (value == site->values[i]) {
      return i;
    }
  }
  return -1;
}

static void report_wrong(struct mdl_torture_executor *executor, uint64_t index, uint64_t value) {
  if (executor->wrong++ == 0) {
    executor->wrong_site = index;
    executor->wrong_value = value;
  }
}

static void handle_signal(int number) {
  (void)number;
  struct mdl_torture_executor *executor = self;
  const struct mdl_torture_site *sites = (const struct mdl_torture_site *)executor->sites;
  uint64_t index = executor->signals++ % executor->count;
  uint64_t value = execute(&sites[index]);
  if (place_of(&sites[index], value) < 0) {
    report_wrong(executor, index, value);
  }
}

/* ---- gaps */

static int pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)core, &set);
  return sched_setaffinity(0, sizeof set, &set) < 0 ? errno : 0;
}

static uint64_t read_waited(const struct watch *watch) {
  char text[128];
  ssize_t length = pread(watch->schedstat, text, sizeof text - 1, 0);
  if (length <= 0) {
    return 0;
  }
  text[length] = 0;
  char *end;
  strtoull(text, &end, 10); /* time on a processor */
  return strtoull(end, NULL, 10);
}

/*
 * A thread per processor that is entitled to run once in a millisecond. If it is late, there was no
 * processor: the hypervisor had it, which it does not always report (/proc/stat shows no stolen time for gaps
 * of 90 ms that threads see here although they only read the clock). A thread that is stalled by what it
 * executes does not make a witness late.
 */
static void *witness(void *pointer) {
  uint64_t *own = pointer;
  sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}); /* otherwise it takes its turn */
  if (pin((int)(own - late)) != 0) {
    return NULL;
  }
  for (;;) {
    uint64_t before = clock_nanos(CLOCK_MONOTONIC);
    nanosleep(&(struct timespec){.tv_nsec = (long)NANOS_PER_MILLI}, NULL);
    uint64_t slept = clock_nanos(CLOCK_MONOTONIC) - before;
    if (slept > 2 * NANOS_PER_MILLI) {
      __atomic_fetch_add(own, slept - NANOS_PER_MILLI, __ATOMIC_RELAXED);
    }
  }
}

/* 0 or errno */
static int start_witnesses(void) {
  if (late) {
    return 0;
  }
  uint64_t *all = (uint64_t *)session_allocate(PROCESSORS_MAX * sizeof *late);
  if (!all) {
    return ENOMEM;
  }
  late = all;
  for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF) && i < PROCESSORS_MAX; i++) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, witness, &late[i]);
    if (error) {
      return error;
    }
    pthread_detach(thread);
  }
  return 0;
}

/* Between gaps: often enough that little more than the gap lies between a sample and the gap's end. */
static void sample(struct watch *watch) {
  watch->waited = read_waited(watch);
  memcpy(watch->late, late, sizeof watch->late);
  watch->last = watch->sampled = __rdtsc();
}

/* The part of the gap that was not spent waiting for a processor. The thread may have run on any of them. */
static void judge_gap(struct mdl_torture_executor *executor, struct watch *watch, uint64_t ticks) {
  uint64_t gap = ticks * NANOS_PER_MILLI / executor->ticks_per_milli;
  uint64_t stopped = 0;
  for (int i = 0; i < PROCESSORS_MAX; i++) {
    uint64_t more = __atomic_load_n(&late[i], __ATOMIC_RELAXED) - watch->late[i];
    stopped = more > stopped ? more : stopped;
  }
  uint64_t reason = read_waited(watch) - watch->waited + stopped;
  uint64_t rest = gap > reason ? gap - reason : 0;
  if (rest > executor->longest_nanos) {
    executor->longest_nanos = rest;
  }
  if (rest > STALL_MILLIS * NANOS_PER_MILLI) {
    executor->stalled++;
  } else {
    executor->explained++;
  }
}

/* ---- an executor */

static uint64_t kernel_mask(void) {
  uint64_t mask = 0;
  long result;
  register long size __asm__("r10") = sizeof mask;
  /* By instruction, because the shim's functions return the mask that the thread believes it has. */
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((long)SYS_rt_sigprocmask), "D"((long)SIG_SETMASK), "S"(NULL), "d"(&mask), "r"(size)
                   : "rcx", "r11", "memory");
  return result == 0 ? mask : 0;
}

static int block_all(void) {
  sigset_t all;
  sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, NULL);
  if (!error && sigprocmask(SIG_BLOCK, &all, NULL) < 0) {
    error = errno;
  }
  if (!error && syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(uint64_t)) < 0) {
    error = errno;
  }
  return error;
}

static int start_signals(timer_t *timer) {
  struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 3};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  struct itimerspec period = {{0, SIGNAL_PERIOD_NANOS}, {0, SIGNAL_PERIOD_NANOS}};
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGRTMIN + 3);
  if (sigaction(SIGRTMIN + 3, &action, NULL) < 0 || pthread_sigmask(SIG_UNBLOCK, &only, NULL) != 0 ||
      timer_create(CLOCK_MONOTONIC, &event, timer) < 0 || timer_settime(*timer, 0, &period, NULL) < 0) {
    return errno;
  }
  return 0;
}

static void *run(void *pointer) {
  struct mdl_torture_executor *executor = pointer;
  struct watch watch = {.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)};
  timer_t timer = NULL;
  bool signals = executor->flags & MDL_TORTURE_SIGNALS;
  self = executor;
  int error = watch.schedstat < 0 ? ENOENT : 0;
  if (!error && executor->core >= 0) {
    error = pin(executor->core);
  }
  if (!error && executor->flags & MDL_TORTURE_BLOCKED) {
    error = block_all();
  }
  if (!error && signals) {
    error = start_signals(&timer);
  }
  executor->mask = kernel_mask();
  executor->trouble = error;
  const struct mdl_torture_site *sites = (const struct mdl_torture_site *)executor->sites;
  const volatile uint64_t *focus = (const volatile uint64_t *)executor->focus;
  struct mdl_torture_tally *tallies = (struct mdl_torture_tally *)executor->tallies;
  uint64_t next_site = 0;
  sample(&watch);
  __atomic_store_n(&executor->running, 1, __ATOMIC_RELEASE);
  while (!error && !__atomic_load_n(&executor->stop, __ATOMIC_RELAXED)) {
    uint64_t index = executor->executions & 1 ? *focus : ~0ULL;
    if (index >= executor->count) {
      index = next_site;
      next_site = next_site + 1 == executor->count ? 0 : next_site + 1;
    }
    uint64_t value = execute(&sites[index]);
    int place = place_of(&sites[index], value);
    if (place >= 0) {
      struct mdl_torture_tally *tally = &tallies[index];
      tally->executions[place]++;
      executor->changes += tally->last != (uint64_t)place;
      tally->last = (uint64_t)place;
    } else {
      report_wrong(executor, index, value);
    }
    executor->executions++;
    uint64_t now = __rdtsc();
    if (now - watch.last > STALL_MILLIS * executor->ticks_per_milli) {
      judge_gap(executor, &watch, now - watch.last);
      sample(&watch);
    } else if (now - watch.sampled > executor->ticks_per_milli) {
      sample(&watch);
    } else {
      watch.last = now;
    }
  }
  if (signals && timer) {
    timer_delete(timer);
  }
  close(watch.schedstat);
  return NULL;
}

/* A fault in a child is a result; the JVM's handlers would look for a JVM. */
static void die_plainly(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    signal(faults[i], SIG_DFL);
  }
}

/* 0, or -errno. The thread runs once executor->running is set; executor->trouble has what could not be set
 * up. */
EXPORT int64_t mdl_torture_start(struct mdl_torture_executor *executor) {
  int trouble = start_witnesses();
  if (trouble) {
    return -trouble;
  }
  if (executor->flags & MDL_TORTURE_IN_CHILD) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      die_plainly();
      if (getppid() == parent) {
        run(executor);
      }
      _exit(0);
    }
    executor->child = child;
    return child < 0 ? -errno : 0;
  }
  pthread_t thread;
  int error = pthread_create(&thread, NULL, run, executor);
  executor->thread = (uint64_t)thread;
  return -error;
}

/* 0 when the executor has ended; -ETIMEDOUT when it makes no progress for longer than any scheduler
 * explains; the wait status of a child that died. */
EXPORT int64_t mdl_torture_join(struct mdl_torture_executor *executor) {
  __atomic_store_n(&executor->stop, 1, __ATOMIC_RELAXED);
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += JOIN_SECONDS;
  if (!(executor->flags & MDL_TORTURE_IN_CHILD)) {
    return -pthread_clockjoin_np((pthread_t)executor->thread, NULL, CLOCK_MONOTONIC, &deadline);
  }
  for (int millis = 0; millis < JOIN_SECONDS * 1000; millis++) {
    int status;
    if (waitpid(executor->child, &status, WNOHANG) == executor->child) {
      return status;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  kill(executor->child, SIGKILL);
  waitpid(executor->child, NULL, 0);
  return -ETIMEDOUT;
}

/* ---- text that is attached to */

static struct mdl_text text_of(const struct mdl_torture_text *text) {
  return (struct mdl_text){text->start, text->length, text->alias, text->mark};
}

/* Puts the bytes of code memory that nobody executes into a file, and the file's private mapping in its place. 0 or -errno. */
EXPORT int64_t mdl_torture_map_file(struct mdl_torture_text *text) {
  text->file = memfd_create("torture", MFD_CLOEXEC);
  if (text->file < 0) {
    return -errno;
  }
  for (uint64_t done = 0; done < text->length;) {
    ssize_t written = write(text->file, (const void *)(text->start + done), text->length - done);
    if (written <= 0) {
      return -errno;
    }
    done += (uint64_t)written;
  }
  int64_t error = code_put(text->start, text->length, text->file, 0);
  text->mark = own_text_mark(text->start, text->length, (const void *)text->start);
  return error ? error : text->mark ? 0 : -ENOTSUP;
}

/* As libraries_show() and libraries_hide() do. 0 or -errno. */
EXPORT int64_t mdl_torture_attach(struct mdl_torture_text *text) { return code_show(text->start, text->length, text->alias); }

EXPORT int64_t mdl_torture_detach(struct mdl_torture_text *text) {
  struct mdl_text copied = text_of(text);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", text->file);
  if (!file_text_is_copy(&copied)) {
    return -ESTALE;
  }
  void *memory = file_text_map(path, 0, &copied);
  return memory ? file_text_put(memory, &copied) : -ENOENT;
}

/* For a broken twin: threads find no text. */
EXPORT int64_t mdl_torture_unmap(struct mdl_torture_text *text) {
  return munmap((void *)text->start, text->length) < 0 ? -errno : 0;
}
